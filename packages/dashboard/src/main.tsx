/** @jsxImportSource preact */
import { render } from "preact";
import { App } from "./app.tsx";
import { preloadPage } from "./router.tsx";
import { ROUTES } from "./routes.ts";

preloadPage(ROUTES);

const root = document.getElementById("app");
if (root) render(<App />, root);
