import { InFlightRequests } from "./http/in-flight.ts";
import { errorResponse } from "./http/response.ts";
import type { Router } from "./http/router.ts";
import { listen } from "./http/server.ts";
import { systemClock } from "./lib/clock.ts";
import { makeIds } from "./lib/ids.ts";
import type { Log } from "./lib/log.ts";
import { secureRandom } from "./lib/random.ts";

/** A recording that is shown. */
export interface OpenRecording {
  readonly url: string;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 100;
const GRACE_MS = 500;

/**
 * Shows the recording of a run at an address of this machine. Nothing can be changed there. Throws RecordingError, ListenError, or the
 * system's error for a file that cannot be read.
 */
export async function serveRecording(file: string, { host, port }: { host: string; port: number }, log: Log): Promise<OpenRecording> {
  // Loaded only here: no server shows recordings, and routes come with libraries that it loads at its first request.
  const [{ readRecording }, { recordingPages }, { MailParser }] = await Promise.all([
    import("./recording/read.ts"),
    import("./recording/pages.ts"),
    import("./inbound/inbound.ts"),
  ]);
  const recording = await readRecording(file);
  const [{ createRoutes }, { mountDevPages }] = await Promise.all([import("./http/routes.ts"), import("./http/public/dev-pages.ts")]);
  const { real } = systemClock;
  const parser = new MailParser(real);
  const ids = makeIds(systemClock, secureRandom());
  const routes = createRoutes([], [], (request, _method, error) => request.respond(errorResponse(error, ids("req"), [])));
  mountDevPages(routes, recordingPages(recording, parser), { ids, log });
  const router: Router = {
    routed: async () => routes,
    serveDirectly: () => false,
    refuse: (error) => errorResponse(error, ids("req"), []),
  };
  const inFlight = new InFlightRequests(real);
  const settings = { host, port, fd: null, https: false, inFlight, real, log, maxConnections: MAX_CONNECTIONS, onConnection: () => {} };
  const listening = await listen(router, settings);
  return {
    url: `${listening.url}/`,
    close: async () => {
      await listening.close(GRACE_MS);
      await parser.close();
    },
  };
}
