/**
 * Writes what `@tombolo/sandbox-agent` lets others see, for review; with `--check` it only says whether that has changed. It
 * reads what was built.
 */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";

const PACKAGE = join(import.meta.dirname, "../../sandbox-agent");

/** Each way in, and its file below `dist`. */
const ENTRIES = {
  index: "index",
  node: "node/index",
  indexeddb: "store/indexeddb",
  sqlite: "store/sqlite",
  postgres: "store/postgres",
};

const check = process.argv.includes("--check");
const quiet = { logLevel: ExtractorLogLevel.None };
mkdirSync(join(PACKAGE, "api"), { recursive: true });
for (const [name, file] of Object.entries(ENTRIES)) {
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(PACKAGE, "package.json"),
    configObject: {
      projectFolder: PACKAGE,
      mainEntryPointFilePath: join(PACKAGE, `dist/${file}.d.ts`),
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            module: "NodeNext",
            moduleResolution: "NodeNext",
            target: "ES2022",
            lib: ["ES2022", "DOM", "DOM.AsyncIterable", "ESNext.Disposable"],
            strict: true,
            skipLibCheck: true,
            types: ["node"],
          },
          files: [join(PACKAGE, `dist/${file}.d.ts`)],
        },
      },
      apiReport: {
        enabled: true,
        reportFolder: join(PACKAGE, "api"),
        reportTempFolder: join(tmpdir(), "sandbox-agent-api"),
        reportFileName: name,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: { default: quiet },
        tsdocMessageReporting: { default: quiet },
      },
    },
  });
  const { apiReportChanged, succeeded } = Extractor.invoke(config, {
    localBuild: !check,
    messageCallback: (message) => {
      message.handled = message.logLevel !== ExtractorLogLevel.Error;
    },
  });
  if (check && apiReportChanged) {
    console.error(
      `sandbox-agent/api/${name}.api.md is out of date: node codegen/src/report.ts, and commit it`,
    );
  }
  if (!succeeded || (check && apiReportChanged)) process.exitCode = 1;
}
