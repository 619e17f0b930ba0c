import type { DeliveryError } from "./mailer.ts";
import {
  BY_CODE,
  BY_SMTP_CODE,
  banned,
  blocked,
  deniedByOutlook,
  disabled,
  dmarc,
  full,
  greylisted,
  noDomain,
  noMailbox,
  noReverseName,
  policy,
  type Refusal,
  relaying,
  sender,
  spam,
  tooFast,
  tooLarge,
  unauthenticated,
  unavailable,
} from "./refusals.ts";

/**
 * Judges the reply of a mail server: what `mailsvc why` tells and whether the address is suppressed follow from it. The enhanced code
 * decides (RFC 3463, the registry of IANA, and what Gmail, Outlook and Yahoo use beyond it), and the words where the code is vague
 * (5.0.0, 5.7.1) or where they name another reason than "no such mailbox"; then the SMTP code. Null for a reply that says nothing.
 */
export function judgeReply({ smtpCode, enhancedCode, message }: DeliveryError): Refusal | null {
  const code = enhancedCode ?? findEnhancedCode(message);
  const subject = code?.slice(2) ?? "";
  if (BANNED.test(subject)) return banned;
  const words = readWords(message);
  // Outlook and Microsoft 365 mean an unknown mailbox; other servers mean a host that did not answer.
  if (code === "5.4.1" && /recipient address rejected: access denied/i.test(words)) return deniedByOutlook;
  const byCode = BY_CODE[code ?? ""] ?? BY_CODE[subject] ?? null;
  if (byCode?.mailbox === "gone" && !VAGUE.has(subject)) return findContradiction(words) ?? byCode;
  const byWords = findByWords(words, smtpCode);
  const found = VAGUE.has(subject) ? (byWords ?? byCode) : (byCode ?? byWords);
  return found ?? BY_CODE[subject.split(".")[0] ?? ""] ?? (smtpCode === null ? null : (BY_SMTP_CODE[smtpCode] ?? null));
}

/** True if a reply says permanently that the mailbox or its domain does not exist or is disabled. */
export function isMailboxGone(reply: DeliveryError): boolean {
  return !isTemporary(reply) && judgeReply(reply)?.mailbox === "gone";
}

/** True if a reply names a reason unrelated to the existence of the mailbox, such as a full mailbox or a block list. */
export function hasOtherReason(reply: DeliveryError): boolean {
  return findContradiction(readWords(reply.message)) !== null;
}

/** True for a temporary failure of the mailbox or its server. */
export function isMailboxInTrouble(reply: DeliveryError): boolean {
  const mailbox = judgeReply(reply)?.mailbox;
  return mailbox === "trouble" || (mailbox === "gone" && isTemporary(reply));
}

/** A code of 4.x.x or 4xx: the same may be accepted later. */
export function isTemporary({ enhancedCode, smtpCode }: Pick<DeliveryError, "enhancedCode" | "smtpCode">): boolean {
  return (enhancedCode ?? String(smtpCode)).startsWith("4");
}

/** The first enhanced code inside a text, which some servers write at the end or in parentheses. */
export function findEnhancedCode(text: string): string | null {
  return /(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?![\d.])/.exec(text)?.[0] ?? null;
}

/** Codes that say no more than "policy", "other", "mailbox" or "protocol": the words of the reply say more. */
const VAGUE: ReadonlySet<string> = new Set([
  ...["0.0", "1.0", "2.0", "3.0", "3.2", "4.0", "4.1", "4.4", "5.0", "5.1", "5.2", "5.4", "7.0", "7.1"],
]);

// Outlook's codes for a banned sending address.
const BANNED = /^7\.6(?:0[6-9]|[1-4]\d)$/;

const BOX = "(?:user(?:id| name)?|mail ?box|recipient|address(?:ee)?|account|alias|local part)";

// Reasons that a reply may name together with the code of an unknown mailbox, and that are the true ones then.
const CONTRADICTIONS: readonly (readonly [words: RegExp, refusal: Refusal])[] = [
  [/gr[ae]y ?list/i, greylisted],
  [
    /\brat(?:e|ing) ?(?:limit|that|exceeded|control)|\bat a rate\b|too (?:many|much|fast|quickly)|throttl|exceeded .{0,30}(?:messages|emails) per/i,
    tooFast,
  ],
  [
    /\bquota|\b(?:mail ?box|inbox|account|folder|store|disk|storage|space|spool)\b.{0,30}\b(?:full|exceed)|\bfull (?:mail ?box|inbox)|(?:over|exceed).{0,30}(?:storage|space|mailbox size)|(?:insufficient|not enough) (?:system )?(?:disk )?(?:storage|space)/i,
    full,
  ],
  [/block ?list|black ?list|deny ?list|spamhaus|\brbl\b|\bdnsbl\b|barracuda|\bspamcop|\bblocked\b|reputation/i, blocked],
];

/** By the words of a reply; the first one that is found decides. */
const BY_WORDS: readonly (readonly [words: RegExp, refusal: Refusal])[] = [
  [/\bdmarc\b/i, dmarc],
  [/\bspf\b|\bdkim\b|unauthenticated|not authenticated|authentication (?:check|result)/i, unauthenticated],
  [/\breverse dns|\bptr\b|\brdns\b/i, noReverseName],
  [/\brelay(?:ing)?\b(?! recipient table)|not permitted to send|send as|sender.{0,20}(?:not owned|rejected by policy)/i, relaying],
  ...CONTRADICTIONS,
  [/\blisted\b(?! in)/i, blocked],
  [/spam|unsolicited|\bjunk\b|\bcontent\b|virus|malware/i, spam],
  [/\bsender\b|\bmail from\b|\bfrom(?: address|:)|\bhelo\b/i, sender],
  [/message (?:size|is )?(?:too (?:big|large|long)|exceeds)|size limit/i, tooLarge],
  [/temporar|try (?:again )?(?:later|in|after)|found, try again|\brate\b/i, unavailable],
  [/recipient address rejected: access denied.{0,90}outlook\.com/i, deniedByOutlook],
  [
    /\bpolic|\bdenied|(?<!name )not (?:permitted|authori[sz]ed|owned|allowed)|authenticat|prohibited|\bbanned|verif(?:y|ication) fail/i,
    policy,
  ],
  [
    new RegExp(
      `\\b${BOX}\\b.{0,40}?\\b(?:disabled|inactive|deactivated|suspended|closed|terminated|discontinued)|\\b(?:inactive|disabled|deactivated) ${BOX}`,
      "i",
    ),
    disabled,
  ],
  [
    new RegExp(
      [
        `\\b(?:unknown|invalid|no such|non-?existent|bad|unrout(?:e?)able|undeliverable|illegal) (?:(?:local|virtual|destination|final|delivery|recipient|e-?mail) ){0,2}${BOX}`,
        `\\b${BOX}\\b.{0,40}?\\b(?:unknown|not found|not known|invalid|nonexistent|(?:does not|doesn't|do not|not|no longer|may not) (?:exist|have an? [^ ]+ account)|(?:no longer|not) (?:valid|active|available|a valid|a known)|isn't (?:valid|active|known)|name not allowed|syntax incorrect|(?:not |un)listed in)`,
        `\\bno (?:mail ?box|user|one|recipient|such person) (?:here|by that name|at this address)|\\bno such person`,
        `\\bnot a (?:valid|known) ${BOX}|\\bnot our customer|\\bdoes not have an account`,
        "\\brecipient address rejected\\.?$",
        "adresse (?:destinataire )?(?:invalide|inconnue)|destinataire inconnu|utilisateur inconnu|(?:empf[äa]nger|benutzer|adresse) (?:ist )?unbekannt|usuario desconocido|utente sconosciuto|usu[áa]rio desconhecido|пользователь не найден",
      ].join("|"),
      "i",
    ),
    noMailbox,
  ],
  [
    /\b(?:host(?: or domain)?(?: name)?|domain(?: name)?|mail exchanger|mx)\b.{0,40}?\b(?:not found|unknown|does(?: not|n't) exist|not exist|could(?: not|n't) be found|can(?:not|'t| not) be found|not reachable|does not accept (?:e-?)?mail|has no mail exchanger|invalid)|\b(?:unknown|invalid|no such|bad|non-?existent|find any|unrout(?:e?)able) (?:mail )?(?:host|domain)|illegal host|\bno mx(?: record)?s?\b|couldn't find a mail exchanger|null ?mx|system not accepting network messages|all relevant mx records point to non-existent/i,
    noDomain,
  ],
];

/** Words of a reply without its addresses, which may contain any word. */
function readWords(message: string): string {
  return message.replaceAll(/<[^<>\s]*@[^<>]*>|[^\s<>"(]+@[^\s<>")]+/g, " ").replaceAll(/\s+/g, " ");
}

function findContradiction(words: string): Refusal | null {
  // "No such user" of a program that could not write: the account that it runs as.
  if (/(?:couldn't|can't|cannot|unable to) create/i.test(words)) return unavailable;
  if (isNoMailbox(words)) return null;
  return CONTRADICTIONS.find(([pattern]) => pattern.test(words))?.[1] ?? null;
}

function findByWords(words: string, smtpCode: number | null): Refusal | null {
  const found = BY_WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? null;
  // 500 to 504 are about a command, so the address of HELO or MAIL may be meant.
  if (found?.mailbox === "gone" && smtpCode !== null && smtpCode >= 500 && smtpCode < 510) return null;
  // The text of RFC 5321 for 550, which Outlook.com gives for unknown mailboxes; with 450 it means "busy".
  return found ?? (smtpCode !== null && smtpCode >= 550 && /\bmail ?box unavailable/i.test(words) ? noMailbox : null);
}

/** True if the words themselves say that there is no such mailbox. */
function isNoMailbox(words: string): boolean {
  return BY_WORDS.some(([pattern, refusal]) => refusal === noMailbox && pattern.test(words));
}
