//! What a real server answers, and what one does that fails midway.

use std::{
    io::{Read, Write},
    net::TcpListener,
};

use crate::{
    directory::keeps_the_contract,
    server::{S3Server, store_at},
};

#[test]
fn a_bucket_keeps_the_contract() {
    let server = S3Server::start();
    keeps_the_contract(server.store("quipu/snapshots").as_ref());
    keeps_the_contract(server.store("").as_ref());
}

#[test]
fn prefixes_are_apart() {
    let server = S3Server::start();
    server.store("one").put("f/a.snap", b"1".to_vec()).unwrap();
    assert!(server.store("other").list("f").unwrap().is_empty());
    assert_eq!(server.store("one").list("f").unwrap(), ["a.snap"]);
}

#[test]
fn a_server_that_is_gone_is_an_error_in_words() {
    let mut server = S3Server::start();
    let store = server.store("p");
    store.put("f/a.snap", b"1".to_vec()).unwrap();
    server.stop();
    let error = store.list("f").unwrap_err();
    assert_eq!(error.to_string(), "cannot list s3://cords/p/f");
    assert!(store.put("f/b.snap", b"2".to_vec()).is_err());
    server.start_again();
    assert!(store.list("f").unwrap().is_empty());
}

#[test]
fn an_answer_that_breaks_off_is_no_file() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut head = [0; 4096];
            assert!(stream.read(&mut head).unwrap() > 0, "a request comes");
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: \"e\"\r\n\
                          Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\nquipu-snap";
            stream.write_all(answer.as_bytes()).ok();
        }
    });
    assert!(store_at(address, "p").get("f/a.snap").is_err());
}

#[test]
fn an_address_that_is_none_is_refused() {
    for url in ["", "s3:", "s3://", "s3:///prefix", "file://relative", "http://host/bucket"] {
        let error = quipu_objects::open(url, std::iter::empty()).unwrap_err();
        assert!(error.to_string().contains("file:///DIR"), "{url}: {error}");
    }
}
