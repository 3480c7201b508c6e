//! Elects a leader with a Lease through the crate `kube-leader-election`: kube-rs has no election of its own.
//!
//! The Lease lasts 15 s, is renewed every 2 s, is given up after 10 s without a renewal, and is released on a clean stop.
use std::{process, time::Duration};

use anyhow::bail;
use kube::Client;
use kube_leader_election::{LeaseLock, LeaseLockParams, LeaseLockResult};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

const LEASE: Duration = Duration::from_secs(15);
const DEADLINE: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_secs(2);

pub struct Election {
    lock: LeaseLock,
}

impl Election {
    pub fn new(client: Client, namespace: &str, name: &str) -> Self {
        let params = LeaseLockParams {
            holder_id: format!("kube-rs-{}", process::id()),
            lease_name: name.to_string(),
            lease_ttl: LEASE,
        };
        Self { lock: LeaseLock::new(client, namespace, params) }
    }

    /// Runs `work`, which ends by itself after `stop`, once this process leads; fails when it leads no longer.
    pub async fn lead(
        &self,
        stop: &CancellationToken,
        work: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<()> {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = self.acquired() => {}
        }
        tokio::select! {
            result = work => {
                self.lock.step_down().await?;
                result
            }
            () = self.lost() => bail!("Cannot go on: the Lease is lost"),
        }
    }

    /// Resolves once the Lease is held.
    async fn acquired(&self) {
        while !self.held(Instant::now() + DEADLINE).await {
            sleep(RETRY).await;
        }
    }

    /// Resolves once the Lease, which is held now, could not be renewed for too long.
    async fn lost(&self) {
        let mut deadline = Instant::now() + DEADLINE;
        while Instant::now() < deadline {
            sleep(RETRY).await;
            let renewed = Instant::now();
            if self.held(deadline).await {
                deadline = renewed + DEADLINE;
            }
        }
    }

    /// Answers whether the Lease was acquired or renewed before `deadline`.
    async fn held(&self, deadline: Instant) -> bool {
        match timeout_at(deadline, self.lock.try_acquire_or_renew()).await {
            Ok(Ok(LeaseLockResult::Acquired(_))) => true,
            Ok(Ok(LeaseLockResult::NotAcquired(_))) => {
                info!("another process leads");
                false
            }
            Ok(Err(error)) => {
                warn!("{error}");
                false
            }
            Err(_) => false,
        }
    }
}
