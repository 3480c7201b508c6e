//! Runs the benchmark's operator with kube-rs: a typed `Widget`, one controller, the reconciler that `BENCH_RECONCILE` names.
//!
//! The harness starts it with `BENCH_*` variables and speaks with it over stdin and stdout, see `protocol.rs`.
mod election;
mod probes;
mod protocol;
mod reconciler;
mod widget;

use std::{env, pin::pin, str::FromStr, sync::Arc};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    runtime::{Config, Controller, watcher},
};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    election::Election,
    probes::Probes,
    protocol::Protocol,
    reconciler::{Context, Mode},
    widget::Widget,
};

/// Answers with what a variable says; with `otherwise` when it is absent or empty.
fn variable<T: FromStr>(name: &str, otherwise: T) -> anyhow::Result<T> {
    match env::var(name) {
        Ok(text) if !text.is_empty() => {
            text.parse().map_err(|_| anyhow::anyhow!("Cannot use {name}: current value is {text}"))
        }
        _ => Ok(otherwise),
    }
}

fn api<K>(client: Client, namespace: &str) -> Api<K>
where
    K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>,
{
    if namespace.is_empty() { Api::all(client) } else { Api::namespaced(client, namespace) }
}

/// Runs the controller until `stop` is cancelled and the reconciles under way have ended.
async fn control(context: Arc<Context>, probes: &Probes, stop: &CancellationToken) -> anyhow::Result<()> {
    let namespace = variable("BENCH_NAMESPACE", String::new())?;
    let client = context.client.clone();
    let mut controller = Controller::new(api::<Widget>(client.clone(), &namespace), watcher::Config::default())
        .with_config(Config::default().concurrency(variable("BENCH_WORKERS", 16)?))
        .graceful_shutdown_on(stop.clone().cancelled_owned());
    if context.mode == Mode::Owned {
        controller = controller.owns(api::<ConfigMap>(client, &namespace), watcher::Config::default());
    }
    let store = controller.store();
    let mut running =
        pin!(controller.run(reconciler::reconcile, reconciler::error_policy, context).for_each(async |result| {
            if let Err(error) = result {
                warn!("{error}");
            }
        }));
    // In one task: of all that wait for a store, kube-rs wakes the last one only. And it does not end in order before its first
    // list, when nothing is under way.
    tokio::select! {
        () = &mut running => return Ok(()),
        () = stop.cancelled() => return Ok(()),
        _ = store.wait_until_ready() => probes.ready(),
    }
    running.await;
    Ok(())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    let stop = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn({
        let stop = stop.clone();
        async move {
            terminate.recv().await;
            stop.cancel();
        }
    });
    let protocol = Protocol::start(variable("BENCH_OBJECTS", 1)?, variable("BENCH_REVISION", 1)?, stop.clone());
    let client = Client::try_default().await?;
    let probes = Probes::start(variable("BENCH_PORT", 0)?, protocol.clone()).await?;
    let context =
        Arc::new(Context { client: client.clone(), mode: variable("BENCH_RECONCILE", Mode::Noop)?, protocol });
    match variable("BENCH_LEASE", String::new())?.split_once('/') {
        None => control(context, &probes, &stop).await,
        Some((namespace, name)) => {
            probes.ready();
            let election = Election::new(client, namespace, name);
            election.lead(&stop, control(context, &probes, &stop)).await
        }
    }
}
