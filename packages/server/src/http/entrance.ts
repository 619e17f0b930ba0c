import type { IncomingMessage, ServerResponse } from "node:http";
import type { Ids } from "../lib/ids.ts";
import { buildResponse, writeResponse } from "./response.ts";
import type { Router } from "./router.ts";

/** What is listened with before the app is loaded: it answers probes, and keeps all other requests waiting for the app. */
export interface Entrance {
  readonly router: Router;
  /** Settles when the first request has come; the response to a probe is then written. */
  readonly asked: Promise<void>;
  /** Passes all requests on, also those that wait. */
  open(app: Router): void;
}

/** `probes` answer by path. What a probe throws is left to the app, whose errors have their form. */
export function createEntrance(probes: Readonly<Record<string, () => Promise<object>>>, ids: Ids): Entrance {
  let app: Router | null = null;
  const opened = Promise.withResolvers<Router>();
  const asked = Promise.withResolvers<void>();

  const answer = async (probe: () => Promise<object>, req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const result = await probe().catch(() => null);
    if (result !== null) writeResponse(res, buildResponse(200, "application/json", JSON.stringify(result), [["x-request-id", ids("req")]]));
    asked.resolve();
    if (result === null) (await opened.promise).serveDirectly(req, res);
  };

  return {
    asked: asked.promise,
    router: {
      routed: async () => {
        asked.resolve();
        return (await opened.promise).routed();
      },
      serveDirectly: (req, res) => {
        if (app !== null) return app.serveDirectly(req, res);
        const probe = req.method === "GET" ? probes[req.url ?? ""] : undefined;
        if (!probe) return false;
        answer(probe, req, res).catch(() => void res.destroy());
        return true;
      },
    },
    open: (given) => {
      app = given;
      opened.resolve(given);
    },
  };
}
