//! An S3-compatible server of somebody else's, installed beside the build and started for a test.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use quipu_field::SnapshotStore;

const VERSION: &str = "5.1.22";
const PATIENCE: Duration = Duration::from_secs(60);

/// The server's program, installed once.
fn program() -> PathBuf {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _one = INSTALLING.lock().unwrap();
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("moto-{VERSION}"));
    let done = home.join("installed");
    if !done.exists() {
        // Each test is a process of its own: whoever is first installs, the others wait for the directory.
        let lock = Path::new(env!("CARGO_TARGET_TMPDIR")).join("moto.lock");
        let lock = std::fs::File::create(lock).unwrap();
        lock.lock().unwrap();
        if !done.exists() {
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home));
            let package = format!("moto=={VERSION}");
            let mut pip = Command::new(home.join("bin/pip"));
            pip.args(["install", "--quiet", "--disable-pip-version-check", &package]);
            run(pip.args(["flask==3.1.2", "flask-cors==6.0.1"]));
            std::fs::write(&done, "").unwrap();
        }
    }
    home.join("bin/moto_server")
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{errors}");
}

/// A running server with one bucket, `cords`.
pub(crate) struct S3Server {
    child: Option<Child>,
    pub(crate) address: SocketAddr,
}

impl S3Server {
    pub(crate) fn start() -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut server = Self { child: None, address };
        server.start_again();
        server
    }

    /// Starts it where it was, empty.
    pub(crate) fn start_again(&mut self) {
        let port = self.address.port().to_string();
        let child = Command::new(program())
            .args(["-H", "127.0.0.1", "-p", &port])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.child = Some(child);
        let pause = (Mutex::new(()), std::sync::Condvar::new());
        let mut waited = Duration::ZERO;
        while !self.make_bucket() {
            assert!(waited < PATIENCE, "the server does not answer");
            let step = Duration::from_millis(100);
            drop(pause.1.wait_timeout(pause.0.lock().unwrap(), step).unwrap());
            waited += step;
        }
    }

    fn make_bucket(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(self.address) else { return false };
        let request = format!(
            "PUT /cords HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\
             Authorization: AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request\r\n\r\n",
            self.address
        );
        let mut answer = String::new();
        stream.write_all(request.as_bytes()).is_ok()
            && stream.read_to_string(&mut answer).is_ok()
            && answer.starts_with("HTTP/1.1 200")
    }

    pub(crate) fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub(crate) fn store(&self, prefix: &str) -> Arc<dyn SnapshotStore> {
        store_at(self.address, prefix)
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The storage behind an address, as the usual variables name it.
pub(crate) fn store_at(address: SocketAddr, prefix: &str) -> Arc<dyn SnapshotStore> {
    let variables = [
        ("AWS_ENDPOINT_URL", format!("http://{address}")),
        ("AWS_ACCESS_KEY_ID", "k".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "s".to_owned()),
        ("AWS_REGION", "eu-central-1".to_owned()),
        ("PATH", "not for S3".to_owned()),
    ];
    let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value));
    quipu_objects::open(&format!("s3://cords/{prefix}"), variables).unwrap()
}
