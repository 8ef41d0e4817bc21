// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// What the schemes call at the addresses of the real contracts, written for these tests: same calls, same
/// signatures, same events, and nothing else. Put by setCode, so nothing may depend on a constructor.
interface Coin {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

struct Permitted {
    address token;
    uint256 amount;
}

struct Permit {
    Permitted permitted;
    uint256 nonce;
    uint256 deadline;
}

struct Details {
    address to;
    uint256 requestedAmount;
}

contract TestPermit2 {
    mapping(address => mapping(uint256 => bool)) private used;

    function permitWitnessTransferFrom(
        Permit calldata permit,
        Details calldata details,
        address owner,
        bytes32 witness,
        string calldata witnessType,
        bytes calldata signature
    ) external {
        require(block.timestamp <= permit.deadline, "SignatureExpired");
        require(details.requestedAmount <= permit.permitted.amount, "InvalidAmount");
        require(!used[owner][permit.nonce], "InvalidNonce");
        used[owner][permit.nonce] = true;
        bytes32 typeHash = keccak256(
            abi.encodePacked(
                "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,",
                witnessType
            )
        );
        bytes32 permitted = keccak256(
            abi.encode(
                keccak256("TokenPermissions(address token,uint256 amount)"),
                permit.permitted.token,
                permit.permitted.amount
            )
        );
        bytes32 inner =
            keccak256(abi.encode(typeHash, permitted, msg.sender, permit.nonce, permit.deadline, witness));
        require(signerOf(inner, signature) == owner, "InvalidSignature");
        Coin(permit.permitted.token).transferFrom(owner, details.to, details.requestedAmount);
    }

    function signerOf(bytes32 inner, bytes calldata signature) private view returns (address) {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)"),
                keccak256("Permit2"),
                block.chainid,
                address(this)
            )
        );
        bytes32 r = bytes32(signature[:32]);
        bytes32 s = bytes32(signature[32:64]);
        return ecrecover(keccak256(abi.encodePacked("\x19\x01", domain, inner)), uint8(signature[64]), r, s);
    }
}

abstract contract Proxy {
    address public constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;

    event Settled();

    function pay(
        Permit calldata permit,
        uint256 amount,
        address owner,
        address to,
        bytes32 witness,
        string memory witnessType,
        bytes calldata signature
    ) internal {
        TestPermit2(PERMIT2).permitWitnessTransferFrom(
            permit,
            Details(to, amount),
            owner,
            witness,
            string.concat("Witness witness)TokenPermissions(address token,uint256 amount)", witnessType),
            signature
        );
        emit Settled();
    }
}

contract TestExactProxy is Proxy {
    struct Witness {
        address to;
        uint256 validAfter;
    }

    function settle(
        Permit calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        string memory kind = "Witness(address to,uint256 validAfter)";
        bytes32 hash = keccak256(abi.encode(keccak256(bytes(kind)), witness));
        pay(permit, permit.permitted.amount, owner, witness.to, hash, kind, signature);
    }
}

contract TestUptoProxy is Proxy {
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    function settle(
        Permit calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        require(msg.sender == witness.facilitator, "UnauthorizedFacilitator");
        string memory kind = "Witness(address to,address facilitator,uint256 validAfter)";
        bytes32 hash = keccak256(abi.encode(keccak256(bytes(kind)), witness));
        pay(permit, amount, owner, witness.to, hash, kind, signature);
    }
}

/// A proxy of a forger's own: it moves a stranger's money that was approved to it, and says so.
contract OwnProxy {
    event Settled();

    function settle(Permit calldata permit, address owner, Details calldata to, bytes calldata) external {
        Coin(permit.permitted.token).transferFrom(owner, to.to, permit.permitted.amount);
        emit Settled();
    }
}

/// A coin of a forger's own: whoever is to pay in it, a pool pays in real ones.
contract OwnCoin {
    address public real;
    address public pool;

    function set(address real_, address pool_) external {
        (real, pool) = (real_, pool_);
    }

    function transferFrom(address, address to, uint256 value) external returns (bool) {
        return Coin(real).transferFrom(pool, to, value);
    }
}

/// Two things in one transaction, as a bundler sends them.
contract Bundle {
    function run(address[] calldata targets, bytes[] calldata data) external {
        for (uint256 i = 0; i < targets.length; i++) {
            (bool isDone,) = targets[i].call(data[i]);
            require(isDone, "a call failed");
        }
    }
}
