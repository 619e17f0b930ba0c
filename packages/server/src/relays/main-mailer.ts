import type { Mailer } from "../mail/mailer.ts";
import type { RelayRegistry } from "./registry.ts";

/** The mailer of the service's own mail: that of the default relay, whichever that is at the moment. Closing it closes all relays. */
export function mainMailer(relays: RelayRegistry): Mailer {
  return {
    get name() {
      return relays.main.name;
    },
    get transactional() {
      return relays.main.transactional;
    },
    get concurrency() {
      return relays.main.concurrency;
    },
    send: (mail) => relays.main.send(mail),
    check: () => relays.main.check(),
    fault: () => relays.fault(),
    close: (graceMs) => relays.close(graceMs),
  };
}
