import { Window } from "happy-dom";

// Only the globals that React needs. Requests use `fetch` of Node.
const window = new Window({ url: "http://localhost/" });
Object.assign(globalThis, { window, document: window.document });
