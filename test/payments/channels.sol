// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Channels as batch-settlement keeps them, written for these tests: same calls and events at the same
/// addresses. Who may claim or refund is not judged, as no test asks it to be.
interface Token {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function balanceOf(address) external view returns (uint256);
}

interface Collector {
    function collect(address payer, address token, uint256 amount, bytes32 channel, bytes calldata data) external;
}

struct Config {
    address payer;
    address payerAuthorizer;
    address receiver;
    address receiverAuthorizer;
    address token;
    uint40 withdrawDelay;
    bytes32 salt;
}

contract TestChannels {
    struct State {
        uint128 balance;
        uint128 claimed;
    }

    mapping(bytes32 => State) public channels;
    mapping(address => mapping(address => uint128)) private owed;

    event ChannelCreated(bytes32 indexed channelId, Config config);
    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);
    event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount);

    function deposit(Config calldata config, uint128 amount, address collector, bytes calldata data) external {
        bytes32 id = idOf(config);
        State storage state = channels[id];
        state.balance += amount;
        uint256 before = Token(config.token).balanceOf(address(this));
        Collector(collector).collect(config.payer, config.token, amount, id, data);
        require(Token(config.token).balanceOf(address(this)) == before + amount, "DepositCollectionFailed");
        if (state.balance == amount && state.claimed == 0) emit ChannelCreated(id, config);
        emit Deposited(id, msg.sender, amount, state.balance);
    }

    function claim(Config calldata config, uint128 total) external {
        bytes32 id = idOf(config);
        State storage state = channels[id];
        require(total <= state.balance, "ClaimExceedsBalance");
        uint128 more = total - state.claimed;
        state.claimed = total;
        owed[config.receiver][config.token] += more;
        emit Claimed(id, msg.sender, more, total);
    }

    function settle(address receiver, address token) external {
        uint128 amount = owed[receiver][token];
        owed[receiver][token] = 0;
        Token(token).transfer(receiver, amount);
        emit Settled(receiver, token, msg.sender, amount);
    }

    function refund(Config calldata config, uint128 amount) external {
        bytes32 id = idOf(config);
        State storage state = channels[id];
        require(amount <= state.balance - state.claimed, "too much");
        state.balance -= amount;
        emit Refunded(id, msg.sender, amount);
        Token(config.token).transfer(config.payer, amount);
    }

    function idOf(Config calldata config) private view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), config));
    }
}

/// Takes what the payer signed for, and passes it on.
contract TestCollector {
    function collect(address payer, address token, uint256 amount, bytes32 channel, bytes calldata data) external {
        (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) =
            abi.decode(data, (uint256, uint256, uint256, bytes));
        bytes32 nonce = keccak256(abi.encode(channel, salt));
        (bool isDone,) = token.call(
            abi.encodeWithSignature(
                "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
                payer, address(this), amount, validAfter, validBefore, nonce, signature
            )
        );
        require(isDone, "no authorization");
        Token(token).transfer(msg.sender, amount);
    }
}

/// A forger's own: pays with the forger's money, whoever the payer is said to be.
contract OwnCollector {
    address public forger;

    function set(address forger_) external {
        forger = forger_;
    }

    function collect(address, address token, uint256 amount, bytes32, bytes calldata) external {
        Token(token).transferFrom(forger, msg.sender, amount);
    }
}
