interface Provider {
  readonly name: string;
  readonly hosts: RegExp;
  /** Value that a domain's SPF record includes for it. */
  readonly spf: string;
}

/** Providers of relays whose SPF record is known by their host. They look after the PTR records of their addresses. */
const PROVIDERS: readonly Provider[] = [
  { name: "Amazon SES", hosts: /(?:^|\.)amazonaws\.com$/, spf: "amazonses.com" },
  { name: "Microsoft 365", hosts: /(?:^|\.)(?:office365|outlook)\.com$/, spf: "spf.protection.outlook.com" },
  { name: "Google", hosts: /(?:^|\.)(?:gmail|google|googlemail)\.com$/, spf: "_spf.google.com" },
  { name: "SendGrid", hosts: /(?:^|\.)sendgrid\.net$/, spf: "sendgrid.net" },
  { name: "Mailgun", hosts: /(?:^|\.)mailgun\.org$/, spf: "mailgun.org" },
  { name: "Postmark", hosts: /(?:^|\.)postmarkapp\.com$/, spf: "spf.mtasv.net" },
  { name: "Brevo", hosts: /(?:^|\.)(?:brevo|sendinblue)\.com$/, spf: "spf.brevo.com" },
  { name: "Mailjet", hosts: /(?:^|\.)mailjet\.com$/, spf: "spf.mailjet.com" },
];

/** The provider of a relay's host; null for any other mail server. */
export function findProvider(host: string): Provider | null {
  return PROVIDERS.find(({ hosts }) => hosts.test(host.toLowerCase())) ?? null;
}
