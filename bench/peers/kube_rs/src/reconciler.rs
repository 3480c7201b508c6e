//! Reconciles a `Widget` in one of the benchmark's ways.
use std::{str::FromStr, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{ObjectMeta, Patch, PatchParams},
    runtime::controller::Action,
};
use serde_json::json;

use crate::{protocol::Protocol, widget::Widget};

const FIELD_MANAGER: &str = "bench-kube-rs";

/// What a reconcile does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Noop,
    Status,
    Owned,
    Delay,
}

impl FromStr for Mode {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "noop" => Ok(Self::Noop),
            "status" => Ok(Self::Status),
            "owned" => Ok(Self::Owned),
            "delay" => Ok(Self::Delay),
            _ => Err(()),
        }
    }
}

pub struct Context {
    pub client: Client,
    pub mode: Mode,
    pub protocol: Arc<Protocol>,
}

pub async fn reconcile(widget: Arc<Widget>, context: Arc<Context>) -> Result<Action, kube::Error> {
    let protocol = &context.protocol;
    protocol.started(&widget.spec);
    let action = match context.mode {
        Mode::Noop => Action::await_change(),
        Mode::Status => report(&widget, &context).await?,
        Mode::Owned => apply(&widget, &context).await?,
        Mode::Delay => Action::requeue(Duration::from_secs(3600)),
    };
    protocol.finished(&widget.spec);
    Ok(action)
}

pub fn error_policy(_: Arc<Widget>, _: &kube::Error, context: Arc<Context>) -> Action {
    context.protocol.failed();
    Action::requeue(Duration::from_secs(5))
}

/// Patches the status when it has not seen the spec's revision.
async fn report(widget: &Widget, context: &Context) -> Result<Action, kube::Error> {
    let revision = widget.spec.revision;
    if widget.status.as_ref().and_then(|status| status.observed) != Some(revision) {
        let widgets = Api::<Widget>::namespaced(context.client.clone(), &widget.namespace().unwrap_or_default());
        let status = json!({
            "status": { "observed": revision, "message": format!("Observed revision {revision}") }
        });
        context.protocol.writes();
        widgets.patch_status(&widget.name_any(), &PatchParams::default(), &Patch::Merge(&status)).await?;
    }
    Ok(Action::await_change())
}

/// Applies the ConfigMap that the object owns.
async fn apply(widget: &Widget, context: &Context) -> Result<Action, kube::Error> {
    let (name, namespace) = (widget.name_any(), widget.namespace().unwrap_or_default());
    let config = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            namespace: Some(namespace.clone()),
            owner_references: widget.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some(
            [
                ("revision".to_string(), widget.spec.revision.to_string()),
                ("title".to_string(), widget.spec.title.clone()),
            ]
            .into(),
        ),
        ..ConfigMap::default()
    };
    let configs = Api::<ConfigMap>::namespaced(context.client.clone(), &namespace);
    context.protocol.writes();
    configs.patch(&name, &PatchParams::apply(FIELD_MANAGER).force(), &Patch::Apply(&config)).await?;
    Ok(Action::await_change())
}
