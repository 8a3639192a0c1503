import { version } from "react";
import { version as domVersion } from "react-dom";
import { expect, inject, test } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The major version of React that the tests run with. */
    readonly react: string;
  }
}

test("the tests run with the intended version of React", () => {
  expect([version, domVersion].map((full) => full.split(".")[0])).toEqual([inject("react"), inject("react")]);
});
