"""Drives a daemon with the client of openapi-python-client: `openapi_python_client.py URL TOKEN ROOT`."""

import importlib
import io
import pkgutil
import sys

import tombolo_client
from tombolo_client import AuthenticatedClient, models, types
from tombolo_client.api.acp import acp_delete, acp_list
from tombolo_client.api.agents import agents_list, agents_models, agents_modes
from tombolo_client.api.config import config_delete_mcp, config_read_mcp, config_write_mcp
from tombolo_client.api.fs import fs_delete, fs_entries, fs_mkdir, fs_read, fs_rename, fs_stat, fs_write
from tombolo_client.api.info import info_about, info_health, info_metrics
from tombolo_client.api.processes import processes_delete, processes_input, processes_logs, processes_start, processes_wait
from tombolo_client.api.sessions import (
    sessions_create,
    sessions_delete,
    sessions_events,
    sessions_list,
    sessions_read,
    sessions_send,
    sessions_snapshot,
    sessions_transcript,
)
from tombolo_client.api.waits import waits_answer, waits_list

from calls import Calls, poll

base, token, root = sys.argv[1:]
client = AuthenticatedClient(base_url=base, token=token)
call = Calls()


def is_idle():
    return sessions_read.sync("generated", client=client).state == models.SessionState.IDLE


@call
def import_all_modules():
    for module in pkgutil.walk_packages(tombolo_client.__path__, "tombolo_client."):
        importlib.import_module(module.name)


@call
def health():
    assert info_health.sync(client=client).status == "ok"


@call
def about():
    assert info_about.sync(client=client).name == "tombolo"


@call
def metrics():
    assert "tombolo_sessions" in info_metrics.sync(client=client)


@call
def list_agents():
    mock = next(agent for agent in agents_list.sync(client=client).items if agent.id == "mock")
    assert mock.installed and mock.protocol == models.AgentProtocol.ACP, mock


@call
def list_models_and_modes():
    assert isinstance(agents_models.sync("mock", client=client).items, list)
    assert isinstance(agents_modes.sync("mock", client=client, directory=root).modes, list)


@call
def create_session():
    create = models.CreateSessionRequest(agent="mock", directory=root)
    assert sessions_create.sync("generated", client=client, body=create).healthy


@call
def send_message():
    message = models.SendMessageRequest(message="hello")
    sent = sessions_send.sync("generated", client=client, body=message, idempotency_key="one")
    again = sessions_send.sync("generated", client=client, body=message, idempotency_key="one")
    assert sent.input_id == again.input_id
    poll(is_idle)


@call
def read_session():
    session = sessions_read.sync("generated", client=client)
    assert session.agent == "mock" and session.directory == root, session


@call
def list_sessions():
    (session,) = sessions_list.sync(client=client, agent="mock").items
    assert session.id == "generated"


@call
def read_events():
    page = sessions_events.sync("generated", client=client, limit=1000)
    kinds = {next(iter(record.to_dict()["event"])) for record in page.events}
    assert {"started", "message", "turnStarted", "turnEnded", "status"} <= kinds, kinds


@call
def read_transcript():
    roles = [message.role for message in sessions_transcript.sync("generated", client=client).items]
    assert models.MessageRole.USER in roles and models.MessageRole.ASSISTANT in roles, roles


@call
def read_snapshot():
    snapshot = sessions_snapshot.sync("generated", client=client)
    assert snapshot.session.id == "generated" and snapshot.messages


@call
def answer_wait():
    sessions_send.sync("generated", client=client, body=models.SendMessageRequest(message="/permission"))
    wait = poll(lambda: next(iter(waits_list.sync(client=client).items), None))
    answer = models.WaitAnswerPermission(permission=models.PermissionAnswer.ONCE)
    body = models.AnswerWaitRequest(answer=answer, author="generated")
    assert waits_answer.sync(wait.id, client=client, body=body).settlement.author == "generated"
    poll(is_idle)


@call
def write_file():
    body = types.File(payload=io.BytesIO(b"\x00\xff\x80text"))
    assert fs_write.sync(client=client, path=f"{root}/bytes", body=body).bytes_ == 7


@call
def read_file():
    assert fs_read.sync(client=client, path=f"{root}/bytes").payload.read() == b"\x00\xff\x80text"


@call
def list_and_stat_files():
    fs_mkdir.sync(client=client, body=models.CreateDirectoryRequest(path=f"{root}/made"))
    entries = {entry.name: entry.kind for entry in fs_entries.sync(client=client, path=root).items}
    assert entries["bytes"] == models.FileKind.FILE and entries["made"] == models.FileKind.DIRECTORY, entries
    assert fs_stat.sync(client=client, path=f"{root}/bytes").size == 7


@call
def move_and_delete_file():
    fs_rename.sync(client=client, body=models.MoveFileRequest(from_=f"{root}/bytes", to=f"{root}/moved"))
    assert fs_delete.sync_detailed(client=client, path=f"{root}/moved").status_code == 204


@call
def run_process():
    start = models.StartProcessRequest(command="sh", args=["-c", "cat; exit 3"])
    process = processes_start.sync(client=client, body=start)
    body = types.File(payload=io.BytesIO(b"in\n"))
    processes_input.sync_detailed(process.id, client=client, body=body, close=True)
    assert processes_wait.sync(process.id, client=client).exit_.code == 3
    assert processes_logs.sync(process.id, client=client).items
    assert processes_delete.sync_detailed(process.id, client=client).status_code == 204


@call
def configure_mcp_server():
    server = models.McpServerLocal(type_="local", command="server")
    config_write_mcp.sync_detailed(client=client, directory=root, mcp_name="one", body=server)
    assert "one" in config_read_mcp.sync(client=client, directory=root).items
    assert config_delete_mcp.sync_detailed(client=client, directory=root, mcp_name="one").status_code == 204


@call
def list_instances():
    assert acp_list.sync(client=client).items == []
    assert acp_delete.sync_detailed("nothing", client=client).status_code == 204


@call
def read_problem():
    problem = sessions_read.sync("nothing", client=client)
    assert isinstance(problem, models.Problem) and problem.type_ == "urn:problem:session-not-found", problem


@call
def delete_session():
    assert sessions_delete.sync_detailed("generated", client=client).status_code == 204
    assert sessions_list.sync(client=client).items == []


call.finish(minimum=17)
