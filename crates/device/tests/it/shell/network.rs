//! What a command with `network = "proxy"` can reach: other machines, and no service of this one.

use std::{
    net::{IpAddr, Ipv4Addr, TcpListener, UdpSocket},
    process::{Child, Command, Stdio},
    thread,
};

use protocol::relay::{CommandNetwork, ShellGrant};
use testkit::within;

use super::{confined::python, support::*};
use crate::support::SOON;

/// What the servers of these tests answer.
const CONTENT: &str = "served by the machine";

/// An HTTP server on this machine that wants no token, for as long as the test runs. Returns its port.
fn serve(address: IpAddr) -> u16 {
    use std::io::{Read, Write};
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let length = CONTENT.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{CONTENT}"
            );
        }
    });
    port
}

/// An address of this machine's interfaces besides the loopback, if it has any.
fn interface_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // Sends nothing: it only chooses a route.
    socket.connect("203.0.113.7:9").ok()?;
    Some(socket.local_addr().unwrap().ip())
}

/// Prints what the command gets from `url`: through the proxy of its variables, through a tunnel of the proxy, and directly.
fn fetch(url: &str) -> String {
    format!(
        r"
import http.client, os, urllib.request, urllib.parse
url = urllib.parse.urlsplit('{url}')
def attempt(name, do):
    try: print(name, do())
    except Exception as e: print(name, 'failed:', getattr(e, 'code', e))
def tunnel():
    proxy = urllib.parse.urlsplit(os.environ['HTTPS_PROXY'])
    connection = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=20)
    connection.set_tunnel(url.hostname, url.port)
    connection.request('GET', '/')
    return connection.getresponse().read().decode()
def direct():
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
    connection.request('GET', '/')
    return connection.getresponse().read().decode()
attempt('proxy', lambda: urllib.request.urlopen('{url}', timeout=20).read().decode())
attempt('tunnel', tunnel)
attempt('direct', direct)
"
    )
}

async fn run(laptop: &Laptop, network: CommandNetwork, url: &str) -> String {
    let terms = terms(ShellGrant { network, ..grant() });
    let script = fetch(url);
    let heard = within(SOON, laptop.run_under(terms, python(&script))).await;
    format!("{}{}", heard.stdout(), heard.stderr())
}

#[tokio::test]
async fn a_command_behind_the_proxy_reaches_no_service_of_this_machine() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let loopback = serve(Ipv4Addr::LOCALHOST.into());
    let mut urls: Vec<String> = [
        "127.0.0.1",
        "localhost",
        "0.0.0.0",
        "2130706433",
        "0177.0.0.1",
        "127.1",
        "[::ffff:127.0.0.1]",
        "ip6-localhost",
    ]
    .map(|host| format!("http://{host}:{loopback}/"))
    .into();
    urls.push(format!("http://[::1]:{}/", serve("::1".parse().unwrap())));
    // Names of this machine, such as those that `/etc/hosts` gives to loopback addresses.
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    urls.push(format!("http://{name}:{}/", serve(Ipv4Addr::UNSPECIFIED.into())));
    if let Some(address) = interface_address() {
        urls.push(format!("http://{address}:{}/", serve(address)));
    }
    for url in urls {
        let printed = run(&laptop, CommandNetwork::Proxy, &url).await;
        assert!(!printed.contains(CONTENT), "{url}:\n{printed}");
        let failed = printed.lines().filter(|line| line.contains(" failed: ")).count();
        assert_eq!(failed, 3, "{url}:\n{printed}");
    }
    let url = format!("http://127.0.0.1:{loopback}/");
    let printed = run(&laptop, CommandNetwork::Proxy, &url).await;
    assert!(printed.contains("proxy failed: 403"), "{printed}");
    let printed = run(&laptop, CommandNetwork::Host, &url).await;
    assert!(printed.contains(&format!("direct {CONTENT}")), "control: {printed}");
}

#[tokio::test]
async fn programs_find_the_proxy_by_their_variables_and_no_way_around_it() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let terms = terms(ShellGrant { network: CommandNetwork::Proxy, ..grant() });
    let script = "import os
names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
values = {os.environ[name] for name in names}
assert len(values) == 1 and values.pop().startswith('http://127.0.0.1:'), values
assert os.environ['NO_PROXY'] == os.environ['no_proxy'] == ''
# No descriptor of the proxy or of the device is left to the command.
assert all(os.readlink(f'/proc/self/fd/{fd}').split(':')[0] != 'socket' for fd in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{fd}'))
print(open('/proc/net/dev').read().count('\\n'))";
    let heard = laptop.run_under(terms, python(script)).await;
    // Two lines of headings, and the loopback interface.
    assert_eq!(heard.stdout(), "3\n", "{}", heard.stderr());
}

/// A machine beside this one: a network namespace, connected by a pair of virtual interfaces.
struct OtherMachine {
    name: String,
    server: Option<Child>,
}

impl OtherMachine {
    const ADDRESS: &str = "198.18.77.2";
    const OURS: &str = "198.18.77.1";

    /// `None` without the privileges that it needs.
    fn start() -> Option<Self> {
        let name = format!("tombolo-{}", std::process::id());
        if !ip(&["netns", "add", &name]) {
            return None;
        }
        let mut machine = Self { name: name.clone(), server: None };
        let (ours, theirs) = (format!("tbl{}", std::process::id()), "eth0");
        let made = ip(&["link", "add", &ours, "type", "veth", "peer", "name", theirs, "netns", &name])
            && ip(&["address", "add", &format!("{}/30", Self::OURS), "dev", &ours])
            && ip(&["link", "set", &ours, "up"])
            && ip(&["-n", &name, "address", "add", &format!("{}/30", Self::ADDRESS), "dev", theirs])
            && ip(&["-n", &name, "link", "set", theirs, "up"]);
        if !made {
            return None;
        }
        let script = format!(
            "import http.server\nclass Handler(http.server.BaseHTTPRequestHandler):\n def do_GET(self):\n  \
             self.send_response(200); self.end_headers(); self.wfile.write(b'{CONTENT}')\n\
             server = http.server.ThreadingHTTPServer(('{}', 8080), Handler)\nprint('ready', flush=True)\nserver.serve_forever()",
            Self::ADDRESS
        );
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &name, "/usr/bin/python3", "-c", &script]);
        let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut ready = String::new();
        let stdout = server.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut ready).unwrap();
        machine.server = Some(server);
        assert_eq!(ready, "ready\n");
        Some(machine)
    }
}

impl Drop for OtherMachine {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
        // The pair of interfaces goes with the namespace.
        ip(&["netns", "delete", &self.name]);
    }
}

fn ip(args: &[&str]) -> bool {
    Command::new("ip").args(args).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Only root can connect another machine.
#[tokio::test]
async fn a_command_behind_the_proxy_reaches_other_machines() {
    let Some(_other) = OtherMachine::start() else {
        eprintln!("SKIPPED: a_command_behind_the_proxy_reaches_other_machines needs root");
        return;
    };
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let url = format!("http://{}:8080/", OtherMachine::ADDRESS);
    let printed = run(&laptop, CommandNetwork::Proxy, &url).await;
    assert!(printed.contains(&format!("proxy {CONTENT}\ntunnel {CONTENT}\ndirect failed")), "{printed}");
    // The address of our own end, to which the other machine would be a way.
    let port = serve(OtherMachine::OURS.parse().unwrap());
    let printed =
        run(&laptop, CommandNetwork::Proxy, &format!("http://{}:{port}/", OtherMachine::OURS)).await;
    assert!(printed.contains("proxy failed: 403") && !printed.contains(CONTENT), "{printed}");
    let printed = run(&laptop, CommandNetwork::None, &url).await;
    assert!(!printed.contains(CONTENT), "{printed}");
}
