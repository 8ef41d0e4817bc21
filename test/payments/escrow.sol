// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// An escrow as auth-capture knows it, written for these tests: same calls, hashes and events at the same
/// addresses. Deadlines and bounds of fees are not judged, as no test asks it to.
interface Token {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function balanceOf(address) external view returns (uint256);
}

struct Info {
    address operator;
    address payer;
    address receiver;
    address token;
    uint120 maxAmount;
    uint48 preApprovalExpiry;
    uint48 authorizationExpiry;
    uint48 refundExpiry;
    uint16 minFeeBps;
    uint16 maxFeeBps;
    address feeReceiver;
    uint256 salt;
}

interface Collector {
    function collect(Info calldata info, address store, uint256 amount, bytes calldata data) external;
}

/// Holds the money of one operator's payments.
contract Store {
    address private immutable escrow = msg.sender;

    function send(address token, address to, uint256 amount) external {
        require(msg.sender == escrow, "not the escrow");
        Token(token).transfer(to, amount);
    }
}

contract TestEscrow {
    struct State {
        bool isCollected;
        uint120 capturable;
        uint120 refundable;
    }

    bytes32 private constant TERMS = keccak256(
        "PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)"
    );

    mapping(bytes32 => State) private states;
    mapping(address => Store) private stores;

    event PaymentCharged(bytes32 indexed id, Info info, uint256 amount, address collector, uint256 fee, address feeTo);
    event PaymentAuthorized(bytes32 indexed id, Info info, uint256 amount, address collector);
    event PaymentCaptured(bytes32 indexed id, uint256 amount, uint256 fee, address feeTo);
    event PaymentVoided(bytes32 indexed id, uint256 amount);
    event PaymentRefunded(bytes32 indexed id, uint256 amount, address collector);

    modifier byOperator(Info calldata info) {
        require(msg.sender == info.operator, "not the operator");
        _;
    }

    function charge(Info calldata info, uint256 amount, address collector, bytes calldata data, uint256 fee, address feeTo)
        external
        byOperator(info)
    {
        State storage state = begin(info, amount);
        state.refundable = uint120(amount);
        emit PaymentCharged(hashOf(info, info.payer), info, amount, collector, fee, feeTo);
        take(info, amount, collector, data);
        pay(info, amount, fee, feeTo);
    }

    function authorize(Info calldata info, uint256 amount, address collector, bytes calldata data)
        external
        byOperator(info)
    {
        State storage state = begin(info, amount);
        state.capturable = uint120(amount);
        emit PaymentAuthorized(hashOf(info, info.payer), info, amount, collector);
        take(info, amount, collector, data);
    }

    function capture(Info calldata info, uint256 amount, uint256 fee, address feeTo) external byOperator(info) {
        State storage state = states[hashOf(info, info.payer)];
        require(amount > 0 && amount <= state.capturable, "InsufficientAuthorization");
        state.capturable -= uint120(amount);
        state.refundable += uint120(amount);
        emit PaymentCaptured(hashOf(info, info.payer), amount, fee, feeTo);
        pay(info, amount, fee, feeTo);
    }

    function void(Info calldata info) external byOperator(info) {
        State storage state = states[hashOf(info, info.payer)];
        uint256 amount = state.capturable;
        require(amount > 0, "ZeroAuthorization");
        state.capturable = 0;
        emit PaymentVoided(hashOf(info, info.payer), amount);
        stores[info.operator].send(info.token, info.payer, amount);
    }

    function refund(Info calldata info, uint256 amount) external byOperator(info) {
        State storage state = states[hashOf(info, info.payer)];
        require(amount > 0 && amount <= state.refundable, "RefundExceedsCapture");
        state.refundable -= uint120(amount);
        emit PaymentRefunded(hashOf(info, info.payer), amount, address(this));
        Token(info.token).transferFrom(msg.sender, address(stores[info.operator]), amount);
        stores[info.operator].send(info.token, info.payer, amount);
    }

    /// What the payer signs: the same terms without himself.
    function nonceOf(Info calldata info) external view returns (bytes32) {
        return hashOf(info, address(0));
    }

    function begin(Info calldata info, uint256 amount) private returns (State storage state) {
        require(amount > 0 && amount <= info.maxAmount, "amount");
        state = states[hashOf(info, info.payer)];
        require(!state.isCollected, "PaymentAlreadyCollected");
        state.isCollected = true;
        if (address(stores[info.operator]) == address(0)) stores[info.operator] = new Store();
    }

    function take(Info calldata info, uint256 amount, address collector, bytes calldata data) private {
        address store = address(stores[info.operator]);
        uint256 before = Token(info.token).balanceOf(store);
        Collector(collector).collect(info, store, amount, data);
        require(Token(info.token).balanceOf(store) == before + amount, "TokenCollectionFailed");
    }

    function pay(Info calldata info, uint256 amount, uint256 fee, address feeTo) private {
        require(fee <= amount, "fee");
        if (fee > 0) stores[info.operator].send(info.token, feeTo, fee);
        if (amount > fee) stores[info.operator].send(info.token, info.receiver, amount - fee);
    }

    function hashOf(Info calldata info, address payer) private view returns (bytes32) {
        bytes memory first = abi.encode(
            TERMS, info.operator, payer, info.receiver, info.token, info.maxAmount, info.preApprovalExpiry
        );
        bytes memory rest = abi.encode(
            info.authorizationExpiry, info.refundExpiry, info.minFeeBps, info.maxFeeBps, info.feeReceiver, info.salt
        );
        return keccak256(abi.encode(block.chainid, address(this), keccak256(bytes.concat(first, rest))));
    }
}

/// Takes all that the payer signed for, gives back what is not needed, and passes the rest on.
contract TestEscrowCollector {
    function collect(Info calldata info, address store, uint256 amount, bytes calldata signature) external {
        (bool isDone,) = info.token.call(
            abi.encodeWithSignature(
                "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
                info.payer,
                address(this),
                info.maxAmount,
                0,
                info.preApprovalExpiry,
                TestEscrow(msg.sender).nonceOf(info),
                signature
            )
        );
        require(isDone, "no authorization");
        if (info.maxAmount > amount) Token(info.token).transfer(info.payer, info.maxAmount - amount);
        Token(info.token).transfer(store, amount);
    }
}

/// A forger's own: pays with the operator's money, whoever the payer is said to be.
contract OwnEscrowCollector {
    function collect(Info calldata info, address store, uint256 amount, bytes calldata) external {
        Token(info.token).transferFrom(info.operator, store, amount);
    }
}
