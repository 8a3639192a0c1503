"""Drives a daemon with the Python client of openapi-generator: `openapi_generator.py URL TOKEN ROOT`."""

import json
import sys

import tombolo_daemon as client
from tombolo_daemon import models

from calls import Calls, poll

base, token, root = sys.argv[1:]
api = client.ApiClient(client.Configuration(host=base, access_token=token))
info, agents, sessions = client.InfoApi(api), client.AgentsApi(api), client.SessionsApi(api)
waits, fs, processes = client.WaitsApi(api), client.FsApi(api), client.ProcessesApi(api)
config, acp = client.ConfigApi(api), client.AcpApi(api)
call = Calls()


@call
def health():
    assert info.info_health().status == "ok"


@call
def about():
    assert info.info_about().name == "tombolo"


@call
def metrics():
    assert "tombolo_sessions" in info.info_metrics()


@call
def list_agents():
    mock = next(agent for agent in agents.agents_list().items if agent.id == "mock")
    assert mock.installed and mock.protocol == models.AgentProtocol.ACP, mock


@call
def list_models_and_modes():
    assert isinstance(agents.agents_models("mock").items, list)
    assert isinstance(agents.agents_modes("mock", directory=root).modes, list)


@call
def create_session():
    created = sessions.sessions_create("generated", models.CreateSessionRequest(agent="mock", directory=root))
    assert created.healthy, created


@call
def send_message():
    sent = sessions.sessions_send("generated", models.SendMessageRequest(message="hello"), idempotency_key="one")
    again = sessions.sessions_send("generated", models.SendMessageRequest(message="hello"), idempotency_key="one")
    assert sent.input_id == again.input_id
    poll(lambda: sessions.sessions_read("generated").state == models.SessionState.IDLE)


@call
def read_session():
    session = sessions.sessions_read("generated")
    assert session.agent == "mock" and session.directory == root and session.error is None, session


@call
def list_sessions():
    (session,) = sessions.sessions_list(agent="mock").items
    assert session.id == "generated"


@call
def read_events():
    page = sessions.sessions_events("generated", limit=1000)
    kinds = {next(iter(item.event.to_dict())) for item in page.events}
    assert {"started", "message", "turnStarted", "turnEnded", "status"} <= kinds, kinds


@call
def read_transcript():
    roles = [message.role for message in sessions.sessions_transcript("generated").items]
    assert models.MessageRole.USER in roles and models.MessageRole.ASSISTANT in roles, roles


@call
def read_snapshot():
    snapshot = sessions.sessions_snapshot("generated")
    assert snapshot.session.id == "generated" and snapshot.messages


@call
def answer_wait():
    sessions.sessions_send("generated", models.SendMessageRequest(message="/permission"))
    wait = poll(lambda: next(iter(waits.waits_list().items), None))
    answer = models.WaitAnswer(models.WaitAnswerPermission(permission=models.PermissionAnswer.ONCE))
    settled = waits.waits_answer(wait.id, models.AnswerWaitRequest(answer=answer, author="generated"))
    assert settled.settlement.author == "generated", settled
    poll(lambda: sessions.sessions_read("generated").state == models.SessionState.IDLE)


@call
def write_file():
    written = fs.fs_write(path=f"{root}/bytes", body=b"\x00\xff\x80text")
    assert written.bytes == 7, written


@call
def read_file():
    assert bytes(fs.fs_read(path=f"{root}/bytes")) == b"\x00\xff\x80text"


@call
def list_and_stat_files():
    fs.fs_mkdir(models.CreateDirectoryRequest(path=f"{root}/made"))
    entries = {entry.name: entry.kind for entry in fs.fs_entries(path=root).items}
    assert entries["bytes"] == models.FileKind.FILE and entries["made"] == models.FileKind.DIRECTORY, entries
    assert fs.fs_stat(path=f"{root}/bytes").size == 7


@call
def move_and_delete_file():
    move = {"from": f"{root}/bytes", "to": f"{root}/moved"}
    fs.fs_rename(models.MoveFileRequest.from_dict(move))
    fs.fs_delete(path=f"{root}/moved")
    assert "moved" not in [entry.name for entry in fs.fs_entries(path=root).items]


@call
def run_process():
    start = models.StartProcessRequest(command="sh", args=["-c", "cat; exit 3"])
    process = processes.processes_start(start)
    processes.processes_input(process.id, b"in\n", close=True)
    assert processes.processes_wait(process.id).exit.code == 3
    page = processes.processes_logs(process.id)
    assert page.items, page
    processes.processes_delete(process.id)


@call
def configure_mcp_server():
    server = models.McpServer(models.McpServerLocal(type="local", command=models.McpServerCommand("server")))
    config.config_write_mcp(directory=root, mcp_name="one", mcp_server=server)
    assert "one" in json.dumps(api.sanitize_for_serialization(config.config_read_mcp(directory=root)))
    config.config_delete_mcp(directory=root, mcp_name="one")


@call
def use_acp():
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    assert acp.acp_send("generated", initialize, agent="mock")["result"]["protocolVersion"] == 1
    assert [instance.server_id for instance in acp.acp_list().items] == ["generated"]
    acp.acp_delete("generated")


@call
def read_problem():
    try:
        sessions.sessions_read("nothing")
    except client.exceptions.NotFoundException as error:
        problem = models.Problem.from_json(error.body)
        assert problem.type == "urn:problem:session-not-found", problem
    else:
        raise AssertionError("a session that does not exist was found")


@call
def delete_session():
    sessions.sessions_cancel("generated")
    sessions.sessions_delete("generated")
    assert sessions.sessions_list().items == []


call.finish(minimum=19)
