// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// The reserve of Tempo's sessions, written for these tests and put at its address, as the node has none
/// yet: same events. Signatures and waiting times are not judged, as no test asks it to.
interface Token {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

contract TestReserve {
    struct Channel {
        address payer;
        address payee;
        address token;
        uint96 deposit;
        uint96 settled;
    }

    mapping(bytes32 => Channel) private channels;

    event ChannelOpened(
        bytes32 indexed id, address indexed payer, address indexed payee, address operator, address token,
        address authorizedSigner, bytes32 salt, bytes32 expiringNonceHash, uint96 deposit
    );
    event Settled(
        bytes32 indexed id, address indexed payer, address indexed payee, uint96 total, uint96 delta, uint96 settled
    );
    event TopUp(bytes32 indexed id, address indexed payer, address indexed payee, uint96 more, uint96 deposit);
    event ChannelClosed(bytes32 indexed id, address indexed payer, address indexed payee, uint96 total, uint96 back);

    function open(bytes32 id, address payee, address token, uint96 deposit) external {
        channels[id] = Channel(msg.sender, payee, token, deposit, 0);
        Token(token).transferFrom(msg.sender, address(this), deposit);
        emit ChannelOpened(id, msg.sender, payee, address(0), token, address(0), id, id, deposit);
    }

    function topUp(bytes32 id, uint96 more) external {
        Channel storage channel = channels[id];
        require(msg.sender == channel.payer, "NotPayer");
        channel.deposit += more;
        Token(channel.token).transferFrom(msg.sender, address(this), more);
        emit TopUp(id, channel.payer, channel.payee, more, channel.deposit);
    }

    function settle(bytes32 id, uint96 total) external {
        Channel storage channel = channels[id];
        require(total <= channel.deposit && total > channel.settled, "amount");
        uint96 delta = total - channel.settled;
        channel.settled = total;
        Token(channel.token).transfer(channel.payee, delta);
        emit Settled(id, channel.payer, channel.payee, total, delta, total);
    }

    /// Also what a payer does who leaves: then nothing more is taken.
    function close(bytes32 id, uint96 total) external {
        Channel memory channel = channels[id];
        require(total <= channel.deposit && total >= channel.settled, "amount");
        delete channels[id];
        if (total > channel.settled) Token(channel.token).transfer(channel.payee, total - channel.settled);
        if (total < channel.deposit) Token(channel.token).transfer(channel.payer, channel.deposit - total);
        emit ChannelClosed(id, channel.payer, channel.payee, total, channel.deposit - total);
    }
}
