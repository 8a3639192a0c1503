/**
 * Writes the API reports of `@tombolo/sandbox-agent` from its build output, for review. With `--check`, only fails if the
 * committed ones differ.
 */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";

const PACKAGE = join(import.meta.dirname, "../../sandbox-agent");

/** Entry points, and their files below `dist`. */
const ENTRY_POINTS = {
  index: "index",
  node: "node/index",
  indexeddb: "store/indexeddb",
  sqlite: "store/sqlite",
  postgres: "store/postgres",
};

const check = process.argv.includes("--check");
const quiet = { logLevel: ExtractorLogLevel.None };
mkdirSync(join(PACKAGE, "api"), { recursive: true });
for (const [name, file] of Object.entries(ENTRY_POINTS)) {
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
      newlineKind: "lf",
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
    console.error(`sandbox-agent/api/${name}.api.md is out of date: run npm run api:write and commit it`);
  }
  if (!succeeded || (check && apiReportChanged)) process.exitCode = 1;
}
