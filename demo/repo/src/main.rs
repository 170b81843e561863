//! Hands out tokens at the door, and says who is inside.

mod auth;
mod config;
mod http;

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::{io, process};

use auth::Auth;
use config::Config;
use http::{Request, Response};

fn main() -> io::Result<()> {
    let config = Config::load(Path::new("gatehouse.toml")).unwrap_or_else(|error| {
        eprintln!("gatehouse: {error}");
        process::exit(1);
    });
    let auth = Auth::new(&config);

    let listener = TcpListener::bind(&config.listen)?;
    println!("listening on http://{}", config.listen);
    for stream in listener.incoming() {
        if let Err(error) = serve(&stream?, &auth, &config) {
            eprintln!("gatehouse: {error}");
        }
    }
    Ok(())
}

fn serve(stream: &TcpStream, auth: &Auth, config: &Config) -> io::Result<()> {
    let request = http::read(stream)?;
    let response = match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/login") => login(&request, auth, config),
        ("GET", "/whoami") => whoami(&request, auth),
        ("GET", "/health") => Response::ok("ok\n"),
        _ => Response::new("404 Not Found", "there is nothing here\n"),
    };
    http::write(stream, &response)
}

fn login(request: &Request, auth: &Auth, config: &Config) -> Response {
    match request.body.split_once(':') {
        Some((user, code)) if code == config.door_code => Response::ok(auth.issue(user) + "\n"),
        _ => Response::new("403 Forbidden", "that is not the code\n"),
    }
}

fn whoami(request: &Request, auth: &Auth) -> Response {
    let claims = auth.verify(&request.bearer).unwrap();
    Response::ok(format!("{}\n", claims.user))
}
