/** The environment of a dialect: what a program's own configuration reads. */
interface DialectEnvironment {
  readonly dialect: string;
  /** The variables by name. `url` is the address of the server, without a trailing slash. */
  readonly variables: (url: string) => Readonly<Record<string, string>>;
}

/**
 * The variables that lead programs of other services here, as `mailsvc dev` lists and sets them. In dev mode any key in this form works.
 */
const DIALECT_ENVIRONMENTS: readonly DialectEnvironment[] = [
  {
    dialect: "resend",
    variables: (url) => ({
      // The clients for Go and Ruby need the slash, those for Node and PHP do without it.
      RESEND_BASE_URL: `${url}/resend/`,
      // Variable of the Python client, which appends a path with a leading slash.
      RESEND_API_URL: `${url}/resend`,
      RESEND_API_KEY: "re_dev",
    }),
  },
  // The official package reads no address: a program gives it, client.setDefaultRequest("baseUrl", process.env.SENDGRID_BASE_URL).
  { dialect: "sendgrid", variables: (url) => ({ SENDGRID_BASE_URL: `${url}/sendgrid`, SENDGRID_API_KEY: "SG.dev" }) },
  {
    dialect: "ses",
    variables: (url) => ({
      // Variable of AWS's SDKs for one service, so that others stay at AWS.
      AWS_ENDPOINT_URL_SESV2: `${url}/ses`,
    }),
  },
];

/** The variables of all dialects. */
export function listDialectVariables(url: string): Readonly<Record<string, string>> {
  return Object.assign({}, ...DIALECT_ENVIRONMENTS.map(({ variables }) => variables(url)));
}
