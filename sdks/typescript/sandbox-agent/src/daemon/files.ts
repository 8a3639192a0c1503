import type { Body } from "@tombolo/acp-http-client/transport";
import type { Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type {
  FileEntry,
  FileStat,
  MadeDirectory,
  MovedFile,
  UnpackedArchive,
  WrittenFile,
} from "../types/daemon.js";

/** What can be written to a file. A stream is sent as it comes. */
export type FileContent = Body;

/** A file that is being read. */
export interface OpenFile {
  /** Names this content of the file. */
  readonly etag: string | undefined;
  /** How many bytes there are, if the server says. */
  readonly size: number | undefined;
  /** The bytes, as they come. */
  readonly body: ReadableStream<Uint8Array>;
}

/** How a file is read. */
export interface ReadFileOptions extends CallOptions {
  /** The first byte; 0 if left out. */
  readonly start?: number | undefined;
  /** The last byte; that of the file if left out. */
  readonly end?: number | undefined;
}

/** How a file is written. */
export interface WriteFileOptions extends CallOptions {
  /** Makes the directories above it too. */
  readonly parents?: boolean | undefined;
  /** Writes only if the file has the content with this `etag`; otherwise a `ProblemError` says 412. */
  readonly ifMatch?: string | undefined;
  /** Writes only if there is no such file; otherwise a `ProblemError` says 412. */
  readonly ifAbsent?: boolean | undefined;
}

/** The files of a sandbox. */
export class Files {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** The names in a directory, sorted, however many there are. */
  async *entries(
    path: string,
    { signal }: CallOptions = {},
  ): AsyncGenerator<FileEntry, undefined, undefined> {
    let after: string | undefined;
    do {
      const page = await this.#http.json("get", "/v1/fs/entries", { query: { path, after }, signal });
      yield* page.items;
      after = page.nextCursor ?? undefined;
    } while (after !== undefined);
    return undefined;
  }

  /** What a path leads to. */
  stat(path: string, { signal }: CallOptions = {}): Promise<FileStat> {
    return this.#http.json("get", "/v1/fs/stat", { query: { path }, signal });
  }

  /** Opens a file to be read, whole or in part. */
  async open(path: string, { start, end, signal }: ReadFileOptions = {}): Promise<OpenFile> {
    const range = start === undefined && end === undefined ? undefined : `bytes=${start ?? 0}-${end ?? ""}`;
    const { headers, body } = await this.#http.stream("get", "/v1/fs/file", {
      query: { path },
      headers: { range },
      signal,
    });
    const size = headers.get("content-length");
    return {
      // Quoted in a header, and nowhere else.
      etag: headers.get("etag")?.replace(/^"(.*)"$/, "$1"),
      size: size === null ? undefined : Number(size),
      body,
    };
  }

  /** The content of a file. */
  async read(path: string, options: ReadFileOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await new Response((await this.open(path, options)).body).arrayBuffer());
  }

  /** The content of a file as text. */
  async readText(path: string, options: ReadFileOptions = {}): Promise<string> {
    return new Response((await this.open(path, options)).body).text();
  }

  /** Writes a file, all or nothing. */
  write(path: string, content: FileContent, options: WriteFileOptions = {}): Promise<WrittenFile> {
    const { parents, ifMatch, ifAbsent, signal } = options;
    return this.#http.json("put", "/v1/fs/file", {
      query: { path, parents },
      headers: {
        "if-match": ifMatch === undefined ? undefined : `"${ifMatch}"`,
        "if-none-match": ifAbsent ? "*" : undefined,
      },
      body: content,
      signal,
    });
  }

  /** Makes a directory, and those above it. */
  makeDirectory(path: string, { signal }: CallOptions = {}): Promise<MadeDirectory> {
    return this.#http.json("post", "/v1/fs/mkdir", { query: { path }, signal });
  }

  /** Moves a file or a directory. */
  move(
    from: string,
    to: string,
    { overwrite = false, signal }: CallOptions & { readonly overwrite?: boolean } = {},
  ): Promise<MovedFile> {
    return this.#http.json("post", "/v1/fs/move", { json: { from, to, overwrite }, signal });
  }

  /** Deletes a file, or a directory, which must be empty unless it is `recursive`. */
  delete(
    path: string,
    { recursive, signal }: CallOptions & { readonly recursive?: boolean } = {},
  ): Promise<void> {
    return this.#http.done("delete", "/v1/fs/entry", { query: { path, recursive }, signal });
  }

  /** Unpacks an archive (tar, gzip or zstd) into a directory, all of it or nothing. */
  unpack(path: string, archive: FileContent, { signal }: CallOptions = {}): Promise<UnpackedArchive> {
    return this.#http.json("post", "/v1/fs/upload-batch", { query: { path }, body: archive, signal });
  }
}
