/** Severity of a finding. Errors make `mailsvc lint` exit with 1. */
export const LINT_SEVERITIES = ["error", "warning"] as const;
export type LintSeverity = (typeof LINT_SEVERITIES)[number];

interface RuleText {
  readonly severity: LintSeverity;
  /** Problem, and its effect on readers. */
  readonly about: string;
  readonly fix: string;
  /** Rule about the whole mail, so it is not checked in a template inside a layout. */
  readonly whole?: true;
}

/** The rules of lint, by id. Checks, help, API and documentation are derived from this list. */
export const LINT_RULES = {
  "link-no-target": {
    severity: "error",
    about: "A link leads nowhere: it has no href, an empty one or #.",
    fix: "Give it an address, or write it as text.",
  },
  "url-relative": {
    severity: "error",
    about: "A relative address: a mail has no address of its own that it could be relative to.",
    fix: "Write the whole address: https://…",
  },
  "url-unsafe": {
    severity: "error",
    about: "An address that mail programs refuse, such as javascript: or file:.",
    fix: "Link to a page: https://…",
  },
  "url-local": {
    severity: "error",
    about: "An address of this machine or of a private network, which readers cannot reach.",
    fix: "Use the public address.",
  },
  "url-insecure": {
    severity: "warning",
    about: "An address with http://: browsers warn, and mail programs may not load the image.",
    fix: "Use https://.",
  },
  "link-no-text": {
    severity: "warning",
    about: "A link without words: people who hear the mail do not learn where it leads.",
    fix: "Write a text in it, an image with alt, or aria-label.",
  },
  "image-no-source": { severity: "error", about: "An image has no src.", fix: "Give it a src, or remove it." },
  "image-no-alt": {
    severity: "error",
    about: "An image has no alt text: many mail programs show no images until the reader asks for them.",
    fix: 'Say what it shows; alt="" if it is decoration.',
  },
  "image-no-size": {
    severity: "warning",
    about: "An image has no width: Outlook shows it in its full size, and the text jumps while images load.",
    fix: "Write its width in pixels as an attribute.",
  },
  "image-data": {
    severity: "warning",
    about: "An image is part of the HTML, as data:. Gmail and Outlook do not show it.",
    fix: "Put it on a server, or attach it with a contentId and use cid:.",
  },
  "gmail-clipping": {
    severity: "error",
    about: "The HTML is larger than 102 kB: Gmail cuts it off, with the unsubscribe link and the image that counts opens.",
    fix: "Shorten it: remove comments, blanks and repeated styles.",
    whole: true,
  },
  script: {
    severity: "error",
    about: "A script or an on… attribute. No mail program runs it, and some filters refuse the mail.",
    fix: "Remove it, and link to a page that does it.",
  },
  "embedded-content": {
    severity: "error",
    about: "A frame, object or applet. Mail programs remove it.",
    fix: "Show an image that links to a page.",
  },
  form: {
    severity: "warning",
    about: "A form. Most mail programs remove it or warn of it.",
    fix: "Link to a page with the form.",
  },
  "external-stylesheet": {
    severity: "error",
    about: "A style sheet that is loaded from elsewhere. Gmail and Outlook ignore it.",
    fix: "Write the styles into a style element and into style attributes.",
  },
  "style-too-long": {
    severity: "warning",
    about: "A style element is longer than 8,192 characters: Gmail ignores all of it.",
    fix: "Divide it into several style elements.",
  },
  "client-support": {
    severity: "warning",
    about: "Mail programs do not support an element, a CSS property, a unit or an image format.",
    fix: "Make sure that the mail can be read without it.",
  },
  "dark-mode": {
    severity: "warning",
    about: "The mail does not say that it has colors for dark mode, so mail programs change them as they like.",
    fix: 'Add <meta name="color-scheme" content="light dark">, and try both.',
    whole: true,
  },
  "dark-mode-colors": {
    severity: "warning",
    about: "A text color without a background, or the other way round: in dark mode the other one is changed, and both may be dark.",
    fix: "Set both on the same element, or neither.",
  },
  contrast: {
    severity: "warning",
    about: "Text and background differ by less than 4.5:1 (3:1 for large text), which many people cannot read (WCAG 2 AA).",
    fix: "Use a darker or lighter color.",
  },
  "language-missing": {
    severity: "warning",
    about: "The html element has no lang: screen readers take the wrong pronunciation.",
    fix: '<html lang="en">',
    whole: true,
  },
  "viewport-missing": {
    severity: "warning",
    about: "No viewport is set: phones show the mail in the width of a desktop.",
    fix: '<meta name="viewport" content="width=device-width, initial-scale=1">',
    whole: true,
  },
  "table-no-role": {
    severity: "warning",
    about: 'A table without th and without role="presentation": screen readers announce the rows and columns of the layout.',
    fix: 'Write role="presentation" on tables that only arrange.',
  },
  "tag-unclosed": {
    severity: "warning",
    about: "An element is not closed: each mail program repairs it in another way.",
    fix: "Close it where it ends.",
  },
  "preheader-missing": {
    severity: "warning",
    about: "No preheader: the list of mails shows the first words of the mail after the subject, often “View in browser”.",
    fix: "Begin the body with a hidden text that says more than the subject.",
    whole: true,
  },
  "text-missing": {
    severity: "warning",
    about: "There is no text part. This service makes one from the HTML, which is seldom as good as a written one.",
    fix: "Add a text part, and check how it reads.",
    whole: true,
  },
  "unsubscribe-missing": {
    severity: "warning",
    about: "A marketing mail without an unsubscribe link. Campaigns get a plain footer with one.",
    fix: '<a href="{{unsubscribeUrl}}">Unsubscribe</a>',
    whole: true,
  },
  "subject-long": {
    severity: "warning",
    about: "The subject is longer than 70 characters: phones show the first 40 or so, desktops 70.",
    fix: "Say the important thing first, and less.",
  },
  "subject-shouting": {
    severity: "warning",
    about: "The subject is in capitals, or has several exclamation or question marks, as in spam.",
    fix: "Write it as to one person.",
  },
  "spam-words": {
    severity: "warning",
    about: "A phrase of which spam is full. One alone does no harm; filters judge the sender far more than words.",
    fix: "Say it in your own words.",
  },
  "template-syntax": {
    severity: "error",
    about: "The template cannot be read.",
    fix: "Correct it where the message says.",
  },
  "variable-undeclared": {
    severity: "warning",
    about: "A variable that the template does not declare, though it declares others: perhaps misspelt.",
    fix: "Declare it in variables, or correct its name.",
  },
  "variable-unused": {
    severity: "warning",
    about: "A declared variable that is used nowhere.",
    fix: "Use it, or remove the declaration.",
  },
  "placeholder-left": {
    severity: "error",
    about: "A sent mail still has a placeholder, which its reader sees.",
    fix: "Send a template, or fill it in before you send.",
  },
  "calendar-invalid": {
    severity: "error",
    about: "The calendar of an invitation cannot be read, or has no METHOD: mail programs show a file instead of buttons.",
    fix: "Let a library write it, with METHOD:REQUEST below BEGIN:VCALENDAR.",
  },
  "calendar-incomplete": {
    severity: "warning",
    about: "A calendar lacks a property that Gmail, Outlook or Apple need to show the event, to change it, or to answer.",
    fix: "Add it.",
  },
} as const satisfies Readonly<Record<string, RuleText>>;

export type LintRuleId = keyof typeof LINT_RULES;
export const LINT_RULE_IDS = Object.keys(LINT_RULES) as [LintRuleId, ...LintRuleId[]];

/** The mail programs whose support is known, by id. */
export const MAIL_CLIENTS = {
  "gmail-web": "Gmail (web)",
  "gmail-ios": "Gmail (iOS)",
  "gmail-android": "Gmail (Android)",
  "outlook-windows": "Outlook (Windows)",
  "outlook-macos": "Outlook (macOS)",
  "outlook-web": "Outlook.com",
  "outlook-ios": "Outlook (iOS)",
  "outlook-android": "Outlook (Android)",
  "apple-mail-macos": "Apple Mail (macOS)",
  "apple-mail-ios": "Apple Mail (iOS)",
  "yahoo-web": "Yahoo Mail (web)",
  "yahoo-ios": "Yahoo Mail (iOS)",
  "yahoo-android": "Yahoo Mail (Android)",
  "samsung-android": "Samsung Email",
  thunderbird: "Thunderbird",
  "proton-web": "Proton Mail",
  "fastmail-web": "Fastmail",
  "gmx-web": "GMX",
} as const;
export type MailClient = keyof typeof MAIL_CLIENTS;
export const MAIL_CLIENT_IDS = Object.keys(MAIL_CLIENTS) as [MailClient, ...MailClient[]];
