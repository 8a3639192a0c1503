//! The MCP server of one environment.

use http::HeaderMap;
use protocol::relay::RelayContext;
use relay::{
    Environment,
    environment::{self, Toolset},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
        CompleteResult, Implementation, ListPromptsRequestMethod, ListPromptsResult,
        ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
        SubscriptionFilter, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{answer, catalog, output::ProgressReporter, tools};

/// The key under which some clients send the id of the model's tool call.
const TOOL_CALL_META: &str = "claudecode/toolUseId";

/// The header in which clients of the revision of 2026-07-28 repeat the method of a request.
const METHOD: &str = "mcp-method";

/// The header in which clients of the revision of 2026-07-28 repeat the name of the tool.
const NAME: &str = "mcp-name";

/// The MCP server of one environment. It serves its tools.
#[derive(Clone)]
pub(crate) struct EnvironmentServer {
    environment: watch::Receiver<Environment>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl EnvironmentServer {
    pub(crate) fn new(
        environment: watch::Receiver<Environment>,
        stop: CancellationToken,
        tasks: TaskTracker,
    ) -> Self {
        Self { environment, stop, tasks }
    }

    /// The environment with the id of the tool call that a request is for, which the device and the audit log record.
    fn environment(&self, context: &RequestContext<RoleServer>) -> Environment {
        let tool_call = context.meta.get(TOOL_CALL_META).and_then(|id| id.as_str());
        let environment = self.environment.borrow().clone();
        match tool_call {
            None => environment,
            Some(id) => {
                let known = environment.context().cloned().unwrap_or_default();
                environment.with_context(RelayContext { tool_call_id: Some(id.to_owned()), ..known })
            }
        }
    }

    /// Loads the device's tools before rmcp checks a call of one of them. rmcp compares the headers of a call with its arguments, as
    /// the `x-mcp-header` annotations in the tool's schema require, and that check cannot wait for the device.
    pub(crate) async fn prepare(&self, headers: &HeaderMap) {
        let calls_own = headers.get(METHOD).is_some_and(|method| method == "tools/call")
            && !headers.get(NAME).is_some_and(|name| tools::is_built_in(name.as_bytes()));
        if calls_own {
            let environment = self.environment.borrow().clone();
            // If the device is not available, the call itself fails with that reason.
            let _ = catalog::own(&environment).await;
        }
    }

    /// Watches for changes of the tools.
    fn changes(&self) -> ToolListChanges {
        let mut environment = self.environment.clone();
        let tools = environment.borrow_and_update().tools().changes();
        ToolListChanges { environment, tools }
    }
}

impl ServerHandler for EnvironmentServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("tombolo", env!("CARGO_PKG_VERSION")))
            .with_instructions(catalog::instructions(self.environment.borrow().binding()))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let environment = self.environment(&context);
        // A device that is not connected has no tools of its own for now. Calls of the built-in tools fail with that reason.
        let own = catalog::own(&environment).await.unwrap_or_default();
        let mut tools = catalog::built_in(environment.binding());
        tools.extend(own.into_iter().map(|(_, tool)| tool));
        Ok(ListToolsResult { tools, ..ListToolsResult::default() })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        catalog::known(&self.environment.borrow(), name)
    }

    // Prompts, resources and completions are not declared, so the methods must not exist for clients; the defaults of
    // rmcp are empty lists.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // `Door::close` waits for the token.
        let _running = self.tasks.token();
        let environment = self.environment(&context);
        let progress = ProgressReporter::of(&context);
        let arguments = request.arguments.unwrap_or_default();
        let called = tools::call(&environment, &request.name, arguments, progress);
        // Dropping the call cancels it on the device.
        let called = tokio::select! {
            called = called => called,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
            () = self.stop.cancelled() => Err(environment::Error::Disconnected("the environment has ended".into()).into()),
        };
        match called {
            Ok(result) => Ok(result.into()),
            Err(tools::ToolFailure::NoSuchTool) => {
                Err(ErrorData::invalid_params(format!("unknown tool `{}`", request.name), None))
            }
            Err(tools::ToolFailure::Failed(error)) => {
                let has_schema = tools::has_output_schema(&environment, &request.name);
                let failed = if has_schema { answer::failed_without_structure } else { answer::failed };
                Ok(failed(&error).into())
            }
        }
    }

    /// Notifies clients of older revisions in their session when the tools change.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut changes = self.changes();
        let stop = self.stop.clone();
        self.tasks.spawn(stop.run_until_cancelled_owned(async move {
            while !context.peer.is_transport_closed() {
                changes.next().await;
                if context.peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        }));
    }

    /// Newer clients subscribe to changes of the tools.
    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.stop.cancelled() => return Ok(()),
                () = changes.next() => {
                    if context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// A watch for changes of the environment's tools.
struct ToolListChanges {
    environment: watch::Receiver<Environment>,
    tools: watch::Receiver<u64>,
}

impl ToolListChanges {
    /// Waits for the next change; for ever if there can be none any more.
    async fn next(&mut self) {
        tokio::select! {
            Ok(()) = self.environment.changed() => {
                self.tools = self.environment.borrow_and_update().tools().changes();
            }
            Ok(()) = self.tools.changed() => {}
            else => std::future::pending().await,
        }
    }
}
