import type { paths } from "../generated/api.js";

/** How a route can be asked. */
export type Method = "get" | "put" | "post" | "delete";

/** The routes that can be asked so. */
export type Path<M extends Method> = {
  [P in keyof paths]: paths[P][M] extends { readonly responses: unknown } ? P : never;
}[keyof paths];

type Member<Of, Name extends string> = Of extends { readonly [N in Name]?: infer Value } ? Value : never;
type Parameters<P extends keyof paths, M extends Method> = Member<paths[P][M], "parameters">;

/** What the names in a route stand for. */
export type Names<P extends keyof paths, M extends Method> = NonNullable<Member<Parameters<P, M>, "path">>;

/** The parameters of a route. */
export type Query<P extends keyof paths, M extends Method> = NonNullable<Member<Parameters<P, M>, "query">>;

/** What is sent to a route as JSON. */
export type Sent<P extends keyof paths, M extends Method> =
  NonNullable<Member<paths[P][M], "requestBody">> extends {
    readonly content: { readonly "application/json": infer Json };
  }
    ? Json
    : never;

type Success = 200 | 201 | 202;

/** What a route answers as JSON. */
export type Answer<P extends keyof paths, M extends Method> = paths[P][M] extends {
  readonly responses: infer All;
}
  ? {
      [Status in keyof All & Success]: All[Status] extends {
        readonly content: { readonly "application/json": infer Json };
      }
        ? Json
        : never;
    }[keyof All & Success]
  : never;

/** A route with its names filled in. */
export function filled(path: string, names: object = {}): string {
  const values = new Map<string, unknown>(Object.entries(names));
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values.get(name);
    // Without one, another route would be asked.
    if (typeof value !== "string" || value === "") throw new TypeError(`\`${name}\` must not be empty`);
    return encodeURIComponent(value);
  });
}

/** Parameters as an address has them; what is left out is not there. */
export function written(values: object = {}): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value == null ? undefined : String(value)]),
  );
}
