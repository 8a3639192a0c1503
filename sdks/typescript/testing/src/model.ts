import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Program, programFrom } from "./program.js";

/** A scripted model, which follows the instructions in the prompt, such as `say:hello`. Disposing stops it. */
export class Model extends Program {
  /** Starts the program that `SCRIPTED_MODEL_BIN` names, and waits until it listens. */
  static async start(): Promise<Model> {
    const home = await mkdtemp(join(tmpdir(), "tombolo-"));
    const model = new Model(home, ["--port", "0"], {}, programFrom("SCRIPTED_MODEL_BIN"));
    await model.waitForOutput(/^listening on (\S+)$/);
    return model;
  }

  get url(): string {
    return this.findOutput(/^listening on (\S+)$/) ?? "";
  }
}
