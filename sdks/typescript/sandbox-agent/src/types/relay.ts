import type { components } from "../generated/relay.js";

/** Every schema of the relay protocol (`ya-environment-relay.v1`), by its name in the JSON Schema. */
export type RelaySchemas = components["schemas"];
/** A frame of a relay connection. */
export type RelayFrame = RelaySchemas["Frame"];
/** A request frame. */
export type RelayRequest = RelaySchemas["Request"];
/** A response frame. */
export type RelayResponse = RelaySchemas["Response"];
/** A part of a streamed response. */
export type RelayStreamFrame = RelaySchemas["StreamFrame"];
/** An event frame. */
export type RelayEvent = RelaySchemas["RelayEvent"];
/** The error of a relay request. */
export type RelayError = RelaySchemas["RelayError"];
/** The capabilities of a device. */
export type RelayCapabilities = RelaySchemas["DeviceCapabilities"];
/** Description of a tool. */
export type RelayToolDescriptor = RelaySchemas["ToolDescriptor"];
/** Every method, with its caller, params and result. */
export type RelayMethods = RelaySchemas["Methods"];
/** Name of a method. */
export type RelayMethod = keyof RelayMethods;
/** Params of a method. */
export type RelayParams<Method extends RelayMethod> = RelayMethods[Method]["params"];
/** Result of a method. */
export type RelayResult<Method extends RelayMethod> = RelayMethods[Method]["result"];
