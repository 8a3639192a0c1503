import { Window } from "happy-dom";

// Only what React looks for: requests are made with what Node has, as they are on a server.
const window = new Window({ url: "http://localhost/" });
Object.assign(globalThis, { window, document: window.document });
