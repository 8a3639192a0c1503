import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Program, programOf } from "./program.js";

/** A model that does what the prompt says, such as `say:hello`, until it is disposed of. */
export class Model extends Program {
  /** Starts the program that `SCRIPTED_MODEL_BIN` names, and waits until it listens. */
  static async start(): Promise<Model> {
    const home = await mkdtemp(join(tmpdir(), "tombolo-"));
    const model = new Model(home, ["--port", "0"], {}, programOf("SCRIPTED_MODEL_BIN"));
    await model.says(/^listening on (\S+)$/);
    return model;
  }

  get url(): string {
    return this.said(/^listening on (\S+)$/) ?? "";
  }
}
