// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// The reserve of Tempo's sessions with the calls that the official packages make, written for these
/// tests and put at its address. The chain tells the true one the hash of the transaction that opens a
/// channel; this one is told before. Signatures and waiting times are not judged.
interface Coin {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

contract PackagedReserve {
    struct Descriptor {
        address payer;
        address payee;
        address operator;
        address token;
        bytes32 salt;
        address authorizedSigner;
        bytes32 expiringNonceHash;
    }

    struct State {
        uint96 settled;
        uint96 deposit;
        uint32 closeRequestedAt;
    }

    struct Channel {
        Descriptor descriptor;
        State state;
    }

    bytes32 private next;
    mapping(bytes32 => State) private states;

    event ChannelOpened(
        bytes32 indexed id, address indexed payer, address indexed payee, address operator, address token,
        address authorizedSigner, bytes32 salt, bytes32 expiringNonceHash, uint96 deposit
    );
    event Settled(
        bytes32 indexed id, address indexed payer, address indexed payee, uint96 total, uint96 delta, uint96 settled
    );
    event ChannelClosed(bytes32 indexed id, address indexed payer, address indexed payee, uint96 total, uint96 back);

    function expect(bytes32 hash) external {
        next = hash;
    }

    function open(address payee, address operator, address token, uint96 deposit, bytes32 salt, address signer)
        external
        returns (bytes32 id)
    {
        Descriptor memory one = Descriptor(msg.sender, payee, operator, token, salt, signer, next);
        id = idOf(one);
        states[id].deposit = deposit;
        Coin(token).transferFrom(msg.sender, address(this), deposit);
        emit ChannelOpened(id, msg.sender, payee, operator, token, signer, salt, next, deposit);
    }

    function settle(Descriptor calldata one, uint96 total, bytes calldata) external {
        bytes32 id = idOf(one);
        State storage state = states[id];
        uint96 delta = total - state.settled;
        state.settled = total;
        Coin(one.token).transfer(one.payee, delta);
        emit Settled(id, one.payer, one.payee, total, delta, total);
    }

    function close(Descriptor calldata one, uint96, uint96 captured, bytes calldata) external {
        bytes32 id = idOf(one);
        State memory state = states[id];
        delete states[id];
        if (captured > state.settled) Coin(one.token).transfer(one.payee, captured - state.settled);
        if (captured < state.deposit) Coin(one.token).transfer(one.payer, state.deposit - captured);
        emit ChannelClosed(id, one.payer, one.payee, captured, state.deposit - captured);
    }

    function getChannel(Descriptor calldata one) external view returns (Channel memory) {
        return Channel(one, states[idOf(one)]);
    }

    function getChannelState(bytes32 id) external view returns (State memory) {
        return states[id];
    }

    function idOf(Descriptor memory one) private view returns (bytes32) {
        return keccak256(
            abi.encode(
                one.payer, one.payee, one.operator, one.token, one.salt, one.authorizedSigner, one.expiringNonceHash,
                address(this), block.chainid
            )
        );
    }
}
