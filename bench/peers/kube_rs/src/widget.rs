//! Declares the kind `Widget` that the benchmark's operators reconcile.
use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(group = "bench.example.com", version = "v1", kind = "Widget", namespaced, status = "WidgetStatus")]
pub struct WidgetSpec {
    pub index: u32,
    pub revision: i32,
    /// When the object was written, epoch milliseconds; 0 when it is not timed.
    pub sent: f64,
    pub title: String,
    pub image: String,
    pub replicas: i32,
    pub ports: Vec<Port>,
    pub env: Vec<EnvironmentVariable>,
    pub selector: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct Port {
    pub name: String,
    pub port: i32,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct EnvironmentVariable {
    pub name: String,
    pub value: String,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
pub struct WidgetStatus {
    pub observed: Option<i32>,
    pub message: Option<String>,
}
