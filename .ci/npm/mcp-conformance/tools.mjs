// The tools that the conformance suite calls, as far as a lent tool can do their work.
import { setTimeout } from "node:timers/promises";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const STRING = { type: "string" };

const text = (text) => ({ type: "text", text });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const resource = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });

export const TOOLS = {
  test_simple_text: () => ({ content: [text("This is a simple text response for testing.")] }),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }] }),
  test_embedded_resource: () => ({
    content: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  }),
  test_multiple_content_types: () => ({
    content: [
      text("Multiple content types test:"),
      image,
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  }),
  test_error_handling: () => ({
    content: [text("This tool intentionally returns an error for testing")],
    isError: true,
  }),
  test_tool_with_progress: async (extra) => {
    const progressToken = extra._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` };
        await extra.sendNotification({ method: "notifications/progress", params });
      }
      // The suite wants to see the steps one after the other.
      await setTimeout(50);
    }
    return { content: [text(String(progressToken))] };
  },
  json_schema_2020_12_tool: () => ({ content: [] }),
  test_custom_header: (_, { region }) => ({ content: [text(region)] }),
};

const address = { $anchor: "addressDef", type: "object", properties: { street: STRING, city: STRING } };

/** The schemas of tools that have arguments. */
export const SCHEMAS = {
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: { address },
    properties: {
      name: STRING,
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: STRING,
      email: STRING,
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
  test_custom_header: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
    required: ["region"],
  },
};
