/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { RelayForm } from "../parts/relay-form.tsx";
import { useResource } from "../parts/resource.ts";
import { RelayState } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { go, toHref } from "../router.tsx";

/** The mail servers that take this server's mail. */
export default function Relays() {
  const relays = useResource((signal) => api.relays.list({ signal }), []);
  return (
    <Page
      title="Relays"
      about="The mail servers that take this server's mail."
      actions={<RelayForm done={({ name }) => go(`/relays/${encodeURIComponent(name)}`)} />}
    >
      <div class="scroll">
        <Loaded from={relays}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title="No relays">
                <p>Without one, mail is captured. For a login with OAuth2, add it in a terminal: mailsvc relays add --help.</p>
              </Empty>
            ) : (
              <ul class="items card">
                {data.map(({ name, host, port, state, reason, since, source, answeredAt }) => (
                  <li key={name}>
                    <div class="what">
                      <a href={toHref(`/relays/${encodeURIComponent(name)}`)}>{name}</a>
                      <RelayState {...{ state, answeredAt }} />
                    </div>
                    <p class="soft">
                      {host}:{port} · since <Time at={since} exactly /> · defined by{" "}
                      {source === "api" ? "the API" : `--${source === "file" ? "relays" : source}`}
                    </p>
                    {reason === null ? null : <pre class="reply">{reason}</pre>}
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
    </Page>
  );
}
