//! Hands the proxy's listener from the first process of a sandbox, in whose network namespace it is, to the device.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::fd::{AsFd, OwnedFd},
};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

/// The device's end.
#[derive(Debug)]
pub(in crate::shell) struct ListenerReceiver(OwnedFd);

impl ListenerReceiver {
    /// The device's end, and the one for the sandbox.
    pub(in crate::shell) fn new() -> io::Result<(Self, OwnedFd)> {
        let (receiver, sender) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(receiver), sender))
    }

    /// The listener, once the sandbox has reported that the command runs: it was sent before that, so there is nothing to wait
    /// for.
    pub(in crate::shell) fn receive(self) -> io::Result<TcpListener> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        recvmsg(&self.0, &mut [IoSliceMut::new(&mut byte)], &mut control, flags)?;
        let received = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        received.map(TcpListener::from).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// Opens a listener in the network namespace of this process and sends it to the device. Returns its address.
pub(in crate::shell) fn send_listener(sender: &OwnedFd) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let descriptors = [listener.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(sender, &[IoSlice::new(&[0])], &mut control, SendFlags::empty())?;
    listener.local_addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listener_that_was_sent_accepts_connections() {
        let (receiver, sender) = ListenerReceiver::new().unwrap();
        let address = send_listener(&sender).unwrap();
        let listener = receiver.receive().unwrap();
        let client = std::net::TcpStream::connect(address).unwrap();
        assert_eq!(listener.accept().unwrap().1, client.local_addr().unwrap());
        let (receiver, sender) = ListenerReceiver::new().unwrap();
        drop(sender);
        assert!(receiver.receive().is_err());
    }
}
