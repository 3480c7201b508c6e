//! Serves `/healthz`, `/readyz` and `/metrics`, which kube-rs leaves to its users, with axum.
use std::{
    fmt::Write,
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use axum::{Router, http::StatusCode, routing::get};
use tokio::net::TcpListener;

use crate::protocol::Protocol;

#[derive(Default)]
pub struct Probes {
    ready: Arc<AtomicBool>,
}

impl Probes {
    /// Serves on a port of loopback; nowhere when `port` is 0.
    pub async fn start(port: u16, protocol: Arc<Protocol>) -> anyhow::Result<Self> {
        let probes = Self::default();
        if port == 0 {
            return Ok(probes);
        }
        let ready = probes.ready.clone();
        let readiness = async move || match ready.load(Relaxed) {
            true => (StatusCode::OK, "ok"),
            false => (StatusCode::SERVICE_UNAVAILABLE, "not ready"),
        };
        let app = Router::new()
            .route("/healthz", get("ok"))
            .route("/readyz", get(readiness))
            .route("/metrics", get(async move || exposition(&protocol)));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(probes)
    }

    /// Says that the operator is ready: it has its first list, or waits for its Lease.
    pub fn ready(&self) {
        self.ready.store(true, Relaxed);
    }
}

fn exposition(protocol: &Protocol) -> String {
    let mut text = String::new();
    for (name, total) in protocol.totals() {
        let _ = writeln!(text, "# TYPE bench_{name}_total counter\nbench_{name}_total {total}");
    }
    text
}
