import type { RequestBody } from "@tombolo/acp-http-client/transport";
import type {
  ArchiveUnpacked,
  DirectoryCreated,
  DirectoryEntry,
  FileMetadata,
  FileMoved,
  FileWritten,
} from "../generated/aliases.js";
import type { RouteClient } from "../http/route-client.js";
import type { CallOptions } from "../options.js";

/** Content for a file. A stream is sent as it is produced. */
export type FileContent = RequestBody;

/** A file that is open for reading. */
export interface OpenFile {
  /** Entity tag of this content. */
  readonly etag: string | undefined;
  /** Number of bytes that will be read, if the server sends it. */
  readonly size: number | undefined;
  readonly body: ReadableStream<Uint8Array>;
}

/** Options for reading a file. */
export interface ReadFileOptions extends CallOptions {
  /** Offset of the first byte. Default: 0. */
  readonly start?: number | undefined;
  /** Offset of the last byte, inclusive. Default: the end of the file. */
  readonly end?: number | undefined;
}

/** Options for writing a file. */
export interface WriteFileOptions extends CallOptions {
  /** Whether to create missing parent directories. */
  readonly parents?: boolean | undefined;
  /** Write only if the file has this `etag`. Otherwise throws a `ProblemError` with status 412. */
  readonly ifMatch?: string | undefined;
  /** Write only if the file does not exist. Otherwise throws a `ProblemError` with status 412. */
  readonly ifAbsent?: boolean | undefined;
}

/** The files of a sandbox. */
export class Files {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists all entries of a directory, sorted by name. */
  async *entries(
    path: string,
    { signal }: CallOptions = {},
  ): AsyncGenerator<DirectoryEntry, undefined, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#http.json("get", "/v1/fs/entries", { query: { path, cursor }, signal });
      yield* page.items;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return undefined;
  }

  /** Returns the type, size and times of the file at a path. */
  stat(path: string, { signal }: CallOptions = {}): Promise<FileMetadata> {
    return this.#http.json("get", "/v1/fs/stat", { query: { path }, signal });
  }

  /** Opens a file for reading, whole or in part. */
  async open(path: string, { start, end, signal }: ReadFileOptions = {}): Promise<OpenFile> {
    const range = start === undefined && end === undefined ? undefined : `bytes=${start ?? 0}-${end ?? ""}`;
    const { headers, body } = await this.#http.stream("get", "/v1/fs/file", {
      query: { path },
      headers: { range },
      signal,
    });
    const size = headers.get("content-length");
    return {
      // Only the header has quotes.
      etag: headers.get("etag")?.replace(/^"(.*)"$/, "$1"),
      size: size === null ? undefined : Number(size),
      body,
    };
  }

  /** Reads a file as bytes. */
  async read(path: string, options: ReadFileOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await new Response((await this.open(path, options)).body).arrayBuffer());
  }

  /** Reads a file as text. */
  async readText(path: string, options: ReadFileOptions = {}): Promise<string> {
    return new Response((await this.open(path, options)).body).text();
  }

  /** Writes a file atomically. */
  write(path: string, content: FileContent, options: WriteFileOptions = {}): Promise<FileWritten> {
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

  /** Creates a directory and its missing parents. */
  makeDirectory(path: string, { signal }: CallOptions = {}): Promise<DirectoryCreated> {
    return this.#http.json("post", "/v1/fs/mkdir", { json: { path }, signal });
  }

  /** Moves a file or a directory. */
  move(
    from: string,
    to: string,
    { overwrite = false, signal }: CallOptions & { readonly overwrite?: boolean } = {},
  ): Promise<FileMoved> {
    return this.#http.json("post", "/v1/fs/move", { json: { from, to, overwrite }, signal });
  }

  /** Deletes a file or directory. A directory must be empty, unless `recursive` is set. */
  delete(
    path: string,
    { recursive, signal }: CallOptions & { readonly recursive?: boolean } = {},
  ): Promise<void> {
    return this.#http.done("delete", "/v1/fs/entry", { query: { path, recursive }, signal });
  }

  /** Unpacks an archive (tar, optionally gzip or zstd) into a directory, atomically. */
  unpack(path: string, archive: FileContent, { signal }: CallOptions = {}): Promise<ArchiveUnpacked> {
    return this.#http.json("post", "/v1/fs/upload-batch", { query: { path }, body: archive, signal });
  }
}
