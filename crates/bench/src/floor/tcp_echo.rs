//! The floor `tcp`: one thread per connection that returns all received bytes. It shows the cost of the network
//! alone.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
};

pub(super) fn serve(listener: &TcpListener) -> io::Result<()> {
    for stream in listener.incoming() {
        let stream = stream?;
        std::thread::spawn(move || echo(stream));
    }
    Ok(())
}

fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..read])?;
    }
}
