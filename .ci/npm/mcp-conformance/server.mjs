// The MCP server that the device lends.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { SCHEMAS, TOOLS } from "./tools.mjs";

const server = new Server({ name: "test-tools", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(TOOLS).map((name) => ({
    name,
    description: `Does what the conformance suite expects of ${name}.`,
    inputSchema: SCHEMAS[name] ?? { type: "object", properties: {} },
  })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => TOOLS[params.name](extra, params.arguments));
await server.connect(new StdioServerTransport());
