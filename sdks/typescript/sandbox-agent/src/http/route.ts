import type { paths } from "../generated/api.js";

/** HTTP methods of routes, as the OpenAPI document spells them. */
export type Method = "get" | "put" | "post" | "delete";

/** The paths that support a method. */
export type RoutePath<M extends Method> = {
  [P in keyof paths]: paths[P][M] extends { readonly responses: unknown } ? P : never;
}[keyof paths];

type Member<Of, Name extends string> = Of extends { readonly [N in Name]?: infer Value } ? Value : never;
type Parameters<P extends keyof paths, M extends Method> = Member<paths[P][M], "parameters">;

/** Values of the placeholders in a path. */
export type PathParameters<P extends keyof paths, M extends Method> = NonNullable<
  Member<Parameters<P, M>, "path">
>;

/** Query parameters of a route. */
export type QueryParameters<P extends keyof paths, M extends Method> = NonNullable<
  Member<Parameters<P, M>, "query">
>;

/** JSON body of a request. */
export type RequestJson<P extends keyof paths, M extends Method> =
  NonNullable<Member<paths[P][M], "requestBody">> extends {
    readonly content: { readonly "application/json": infer Json };
  }
    ? Json
    : never;

type Success = 200 | 201 | 202;

/** JSON body of a successful response. */
export type ResponseJson<P extends keyof paths, M extends Method> = paths[P][M] extends {
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

/** Replaces the placeholders of a path. */
export function fillPath(path: string, names: object = {}): string {
  const values = new Map<string, unknown>(Object.entries(names));
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values.get(name);
    // An empty segment would lead to another route.
    if (typeof value !== "string" || value === "") throw new TypeError(`\`${name}\` must not be empty`);
    return encodeURIComponent(value);
  });
}

/** Converts query parameters or headers to strings; `null` and `undefined` are omitted. */
export function stringValues(values: object = {}): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value == null ? undefined : String(value)]),
  );
}
