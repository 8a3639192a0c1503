//! Everybody who sends requests in the matrix.

use std::time::Duration;

use protocol::hub::Role::{self, Controller, Owner, Viewer};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::relay::world::{World, until};

/// A caller and what the rules need to know of it.
pub(super) struct Identity {
    pub(super) name: &'static str,
    pub(super) user: String,
    /// Whether its credentials are valid.
    pub(super) is_known: bool,
    /// Whether it is an administrator with an unscoped token.
    pub(super) is_admin: bool,
    pub(super) is_scoped: bool,
    pub(super) is_session: bool,
    /// Its roles in the two workspaces.
    pub(super) roles: [Option<Role>; 2],
    headers: Vec<(&'static str, String)>,
}

impl Identity {
    pub(super) fn authenticate(&self, request: RequestBuilder) -> RequestBuilder {
        self.headers.iter().fold(request, |request, (name, value)| request.header(*name, value))
    }

    fn with_token(name: &'static str, user: &str, token: &str) -> Self {
        let headers = vec![("authorization", format!("Bearer {token}"))];
        let (user, roles) = (user.to_owned(), [None; 2]);
        Self {
            name,
            user,
            is_known: true,
            is_admin: false,
            is_scoped: false,
            is_session: false,
            roles,
            headers,
        }
    }
}

/// Adds a user; the secret of a token for it.
async fn add_user(world: &World, name: &str, set: Value) -> String {
    let mut add = json!({ "name": name });
    add.as_object_mut().unwrap().extend(set.as_object().unwrap().clone());
    world.ok(Method::POST, "/api/users", Some(add)).await;
    add_token(world, json!({ "name": "first", "user": name })).await
}

async fn add_token(world: &World, add: Value) -> String {
    let added = world.ok(Method::POST, "/api/tokens", Some(add)).await;
    added["secret"].as_str().unwrap().to_owned()
}

pub(super) async fn identities(world: &World) -> Vec<Identity> {
    let mut all = vec![
        Identity { is_known: false, headers: Vec::new(), ..Identity::with_token("anonymous", "owner", "") },
        Identity { is_known: false, ..Identity::with_token("wrong token", "owner", "tombolo_wrong") },
        Identity {
            is_admin: true,
            roles: [Some(Owner); 2],
            ..Identity::with_token("first administrator", "owner", &world.token)
        },
    ];
    for (name, user, workspace, role) in [
        ("viewer of default", "dv", 0, Viewer),
        ("controller of default", "dc", 0, Controller),
        ("owner of default", "do", 0, Owner),
        ("viewer of lab", "lv", 1, Viewer),
        ("owner of lab", "lo", 1, Owner),
    ] {
        let set = json!({ "roles": { super::WORKSPACES[workspace]: role } });
        let mut identity = Identity::with_token(name, user, &add_user(world, user, set).await);
        identity.roles[workspace] = Some(role);
        all.push(identity);
    }
    all.push(Identity::with_token("no role", "none", &add_user(world, "none", json!({})).await));
    let token = add_user(world, "admin", json!({ "isAdmin": true })).await;
    all.push(Identity {
        is_admin: true,
        ..Identity::with_token("administrator without a role", "admin", &token)
    });
    for (name, scope, roles) in [
        ("owner's token for viewing", json!({ "role": "viewer" }), [Some(Viewer); 2]),
        ("owner's token for lab", json!({ "workspaces": ["lab"] }), [None, Some(Owner)]),
    ] {
        // Its user is an administrator and owns everything; the scope takes both away.
        let token = add_token(world, json!({ "name": "scoped", "user": "owner", "scope": scope })).await;
        all.push(Identity { is_scoped: true, roles, ..Identity::with_token(name, "owner", &token) });
    }
    all.push(expired(world).await);
    all.push(session(world).await);
    all
}

/// The token of an owner, after it has expired.
async fn expired(world: &World) -> Identity {
    let soon = jiff::Timestamp::now() + Duration::from_millis(500);
    let add = json!({ "name": "short", "user": "owner", "expiresAt": soon.to_string() });
    let token = add_token(world, add).await;
    let ask =
        || async { world.request_as(&token, Method::GET, "/api/whoami").send().await.unwrap().status() };
    until(|| async { ask().await == 401 }).await;
    Identity { is_known: false, ..Identity::with_token("expired token", "owner", &token) }
}

/// The browser of a controller, after it has logged in.
async fn session(world: &World) -> Identity {
    let token = add_user(world, "browser", json!({ "roles": { "default": "controller" } })).await;
    let login = world.anonymous(Method::POST, "/api/login").json(&json!({ "token": token }));
    let response = login.send().await.unwrap();
    assert_eq!(response.status(), 200);
    let cookie = response.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let body: Value = response.json().await.unwrap();
    let page_key = body["pageKey"].as_str().unwrap().to_owned();
    let headers = vec![("cookie", cookie), ("tombolo-page-key", page_key), ("origin", world.base.clone())];
    let roles = [Some(Controller), None];
    Identity { is_session: true, roles, headers, ..Identity::with_token("browser", "browser", "") }
}
