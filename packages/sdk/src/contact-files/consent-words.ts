import { normalizeName } from "./names.ts";

// Words by which files of other services say who agreed to get mail and who said no, in twelve languages and the commonest words of a few more:
// English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish, Danish and Norwegian, Japanese, Russian.

/** Parts of a column name that say no: a yes in such a column is an opt-out. */
export const OUT_STEMS = words(
  "unsub, opt out, opted out, opting out, opts out, optoff, do not email, do not mail, do not contact, do not send, do not market, do not bulk,",
  "do not allow, dont email, dont mail, dont contact, dont send, dont market, no email, no mail, no marketing, no newsletter, no contact, no bulk,",
  "no promo, never email, never contact, stop email, stop mail, email stop, email disabled, disable email, email off, blacklist, black list, blocklist,",
  "block list, email blocked, blocked email, mail blocked, suppress, exclude from, excluded from, deregister, unregister, complained, complaint date, complaint time, spam complaint, spam report, reported spam, marked spam,",
  "marked as spam, mark as spam, marked email as spam, abuse report, bounced, hard bounce, bounce reason, bounce date, bounce time, bounce at, clean time, clean campaign,",
  "undeliverable, invalid email, email invalid, unconfirmed, marketing suspended, unmailable, not mailable, unengaged list, globally unsub,",
  "abgemeldet, abmeld, abbestell, austrag, ausgetragen, werbesperre, mailsperre, sperrliste, sperrvermerk, keine werbung, kein newsletter, keine newsletter,",
  "keine mail, keine email, kein mailing, nicht kontaktieren, nicht anschreiben, nicht mailen, nicht senden, robinson, unzustellbar,",
  "desabonn, desinscri, ne pas contacter, ne pas envoyer, ne pas solliciter, ne plus contacter, ne plus envoyer, ne plus solliciter, liste noire, pas de mail,",
  "pas demail, plus de mail, pas de newsletter, pas de publicite, liste rouge,",
  "de baja, fecha baja, baja newsletter, baja email, desuscri, desapunt, no contactar, no enviar, no molestar, lista negra, no desea, anulo suscripcion, cancelo suscripcion,",
  "disiscri, disiscriz, non contattare, non inviare, lista nera, annullamento iscrizione, cancellazione iscrizione, iscrizione annullata, iscrizione cancellata,",
  "descadastr, desinscri, nao contactar, nao contatar, nao enviar, nao perturb, nao deseja, cancelou inscricao, inscricao cancelada, cancelamento da inscricao, cancelou a inscricao, anulou a subscricao, subscricao cancelada,",
  "uitgeschreven, uitschrij, afgemeld, afmeld, niet mailen, niet emailen, niet contacteren, niet benaderen, niet verzenden, geen mail, geen email, geen nieuwsbrief, geen reclame,",
  "wypisan, wypisz, wypisani, rezygn, nie kontaktowac, nie wysylac, nie kontaktuj, nie wysylaj, czarna lista, anulowana subskrypcja, anulowano subskrypcj,",
  "avregistrer, avanmal, avprenumer, avslutad prenumeration, kontakta ej, kontakta inte, ej kontakt, skicka inte, skicka ej, ej utskick, ingen reklam, inga utskick, inga mejl, sparrad, sparrlist, nej tack,",
  "frameld, avmeld, kontakt ikke, ikke kontakt, maa ikke kontakt, ma ikke kontakt, send ikke, ingen reklame, ingen mail, ingen nyhedsbrev, nej tak, nei takk, reservert, reserveret,",
  "配信停止, 退会, 購読解除, 登録解除, 配信解除, 受信解除, オプトアウト, 配信不可, 送信不可, メール不可, 配信不要, メール不要, 受信不要, 希望しない, 送信停止, 受信停止,",
  "отписа, отписк, отписал, не связыв, не отправл, не писать, не присылать, не беспокоить, черный список, чёрный список, стоп лист, не желает,",
  "odhlas, nekontaktovat, leiratkoz, dezabon, peruut, markkinointikielto, abonelikten cik, ileti istemiyor, відписа, 退订, 取消订阅, 拒收, 黑名单, 수신거부, 구독취소",
);

/** Parts that take back what another word gives: `consent withdrawn`. */
export const REVOKED_STEMS = words(
  "withdraw, withdrew, revoke, revoked, revocation, declin, refuse, refused, refusal, reject, objected, objection, denied, opted against,",
  "widerruf, widersproch, widerspruch, abgelehnt, ablehn, retrait, retire, refus, opposition, revoqu, revocad, revocac, rechaz, retirad, oposicion, revoc, rifiut, opposizione,",
  "revog, recus, oposicao, ingetrokken, intrekk, bezwaar, geweigerd, wycofan, cofni, odwolan, sprzeciw, odmow, aterkall, motsatt, avbojt, tilbagekald, tilbagetruk, tilbakekalt, afvist,",
  "拒否, 撤回, 取消, отозва, отзыв, отказ",
);

/** Parts of a column name that say yes: a yes in such a column is a subscription, and a no is an opt-out. */
export const IN_STEMS = words(
  "opt in, opted in, opts in, opting in, double opt, subscribed, subscribe to, subscribes, subscriber since, subscribed at, consent, permission, permitted, accepts marketing, accept marketing, accepted marketing,",
  "accepts email, accept email, accepts newsletter, accepts promo, accepts buyer, agreed to marketing, agreed to email, agrees to marketing, agree to marketing, agreed to receive, agrees to receive, agree to receive, wants newsletter, wants email, wants marketing, want newsletter, want emails,",
  "receive newsletter, receives newsletter, receive email, receives email, receive marketing, receives marketing, receive news, receive promo, email allowed, allow email, allows email, allow marketing, allows marketing, allow newsletter,",
  "can email, can contact, can be contacted, can be emailed, can market, may email, may contact, ok to email, ok to contact, okay to email, mailable, emailable, email enabled, marketable, newsletter signup, newsletter sign up, signed up for newsletter, confirm time, confirmed at, confirmation time,",
  "confirmed time, confirmed date, confirm date, confirmation date,",
  "einwillig, eingewilligt, zustimm, zugestimmt, einverst, abonniert, abonnent, werbeerlaubnis, mailerlaubnis, kontakterlaubnis, werbung erlaubt, darf kontaktiert, angemeldet zum newsletter, newsletter angemeldet, newsletter anmeldung,",
  "consentement, consenti, abonne, inscrit a la newsletter, inscrit newsletter, accepte de recevoir, accepte les, accepte newsletter, autorise, autorisation,",
  "consentimiento, suscrit, suscriptor, suscripto, acepta recibir, acepta marketing, acepta publicidad, acepta comunicaciones, acepta newsletter, autoriza,",
  "consenso, iscritto, accetta marketing, accetta newsletter, accetta comunicazioni, accetta di ricevere, autorizza,",
  "consentimento, inscrito, assinante, aceita receber, aceita marketing, aceita newsletter, aceita comunicacoes, aceita email, subscrito, subscritor,",
  "toestemming, ingeschreven, aangemeld, akkoord, abonnee, geabonneerd,",
  "zgoda, zgody, wyrazil zgode, zapisany, zapisana, subskrybent, subskrybuje,",
  "samtyck, prenumer, godkanner utskick, godkant utskick, tillater utskick, vill ha nyhetsbrev,",
  "samtykk, tilmeldt, abonner, pameldt, vil have nyhedsbrev, onsker nyhedsbrev, onsker nyhetsbrev, ja til nyhedsbrev,",
  "同意, 許可, 承諾, オプトイン, 受信希望, 配信希望, 購読中, 購読する, メルマガ登録, メルマガ購読, メルマガ希望,",
  "согласие, согласен, согласна, подписан, подписчик, разреш,",
  "souhlas, hozzajarul, consimtamant, suostumus, згода, підписан, 订阅, 동의, 구독",
);

/** Names that say yes only if they are all of the name. */
export const IN_NAMES = new Set(
  words(
    "subscribed, is subscribed, subscribe, subscriber, newsletter, newsletters, is subscriber, has subscribed, consented, confirmed, is confirmed, doi, marketing ok, email ok, optin, inscrit, inscrite, suscrito, iscritto, inscrito,",
    "abonne, abonnement newsletter, abo newsletter, newsletter abo, nieuwsbrief, nyhedsbrev, nyhetsbrev, メルマガ, рассылка, подписка, подписка на рассылку, subskrypcja newslettera, prenumererar",
  ),
);

/** Parts of a name that may be about consent, without saying which way. */
export const UNCLEAR_STEMS = words(
  "newsletter, mailing, marketing, promo, gdpr, dsgvo, rgpd, lgpd, subscri, complaint, email preference, mail preference, contact preference, communication, contactable, email active, opt status, email optin, email pref, allow, accepts, accepted, agree, permission, mailable, blocked, sperre, gesperrt, bloquead, bloccat, geblokkeerd, zablokowan, sparrad, spaerret, blokeret, заблокирован,",
  "datenschutz, werbung, werbe, abonnement, abonn, infolettre, publicite, suscrip, boletin, publicidad, iscri, bollettino, pubblicita, assinatura, boletim, inscri, nieuwsbrief, reclame, inschrijving, biuletyn, subskryp, marketingow, nyhetsbrev, reklam, utskick, nyhedsbrev, reklame,",
  "メルマガ, メール配信, 配信, 受信, 購読, рассылк, подписк, реклам, anmeldung, erlaubnis, hairlevel, bulten",
);

/** Names that may be about consent only if they are all of the name. */
export const UNCLEAR_NAMES = new Set(
  words(
    "active, is active, inactive, is inactive, enabled, disabled, deleted, is deleted, deleted at, archived, archived at, removed, removed at, cancelled, canceled, cancelled at, canceled at, opt, abo, email, mails, emails, mail, contact, spam,",
    "rodo, declined, refused, rejected, revoked, cleaned, block, stop, status email, aktiv, inaktiv, actif, inactif, activo, inactivo, attivo, ativo, actief, aktywny, nieaktywny, gekundigt, gekundigt am, cancelado, annullato, opgezegd, baja, alta, 配信, 状態, 停止, активен",
  ),
);

/** Words that turn the meaning of a name round. */
export const NEGATIONS = new Set(
  words(
    "not, no, non, never, without, nicht, kein, keine, keinen, ohne, pas, sans, sin, senza, nao, sem, niet, geen, zonder, nie, bez, inte, ej, inga, ingen, utan, ikke, uden, uten, не, нет, без",
  ),
);

/** Japanese and Chinese turn a meaning round without a word of its own. */
export const NEGATED = /未|なし|しない|不同意|非/;

/** Words of names about other ways to reach a person. A name that has a word for email as well is about email. */
export const OTHER_CHANNELS =
  /^(?:sms|mms|whatsapp|viber|fax|telefax|phone|phones|telephone|telefon|telefoon|telefono|telefone|tel|call|calls|calling|anruf|anrufe|appel|llamadas|push|text|texts|texting|mobile|mobil|voice|notification|notifications|facebook|ads|postal|brief|post|print|телефон|смс|звонки|電話)$/;

/** Words of email in a name. */
export const EMAIL_WORD = /mail|newsletter|courriel|correo|posta|почт|メール/;

/** Words of names about other things that people agree to. */
export const OTHER_MATTERS = /^(?:track|tracking|cookie|cookies|terms|agb|tos|captcha|recaptcha|analytics|profiling|photo|photos|video)$/;

/** Words of names about what people did with mail, which says nothing about consent by itself. */
export const ENGAGEMENT =
  /^(?:open|opens|opened|click|clicks|clicked|sent|sends|send|delivered|deliveries|reply|replies|replied|visit|visited|viewed|views|rate|count|total|number|score|rating)$/;

/** Words of names about links and numbers that everybody has, also those who did not opt out. */
export const NOT_A_VALUE =
  /^(?:url|urls|link|links|token|hash|key|count|total|number|rate|score|page|form|text|wording|version|language|ip|useragent|agent|host)$/;

/** Words of names that tell more about an opt-out: any value says that there was one. */
export const DETAIL =
  /^(?:reason|reasons|campaign|title|source|method|mode|by|note|notes|comment|details|suppressions|grund|raison|motif|motivo|reden|powod|orsak|arsag|причина|理由|ids|via|type|origin)$/;

/** The end of the name of a column with a word for the state of a subscription. */
export const STATUS_WORD = /(?:status|statut|state|статус|ステータス|状態|estado|stato|stan)/;

/** Parts of the name of a column of states that are about mail. */
export const STATUS_OF_MAIL =
  /subscri|mail|marketing|newsletter|permission|consent|opt|abo|suscri|iscri|inscri|prenum|подпис|рассыл|購読|配信|メルマガ|nieuwsbrief|nyhedsbrev|nyhetsbrev/;

/** Words that say of a person that mail is wanted, in any column. */
export const IN_WORDS = new Set(
  words(
    "subscribed, active, enabled, confirmed, opted in, opt in, optin, single opt in, double opt in, confirmed opt in, explicit, implicit, express, implied, marketing contact, granted, given, consented, agreed, accepted, accept, allowed, allow, permitted, subscriber, regular, valid, deliverable, registered, signed up, email subscribed,",
    "abonniert, angemeldet, aktiv, bestatigt, eingewilligt, zugestimmt, erlaubt, abonne, abonnee, inscrit, inscrite, actif, confirme, accepte, suscrito, suscrita, activo, activa, confirmado, aceptado, acepta, iscritto, iscritta, attivo, attiva, confermato, accettato,",
    "inscrito, inscrita, ativo, ativa, aceito, assinante, ingeschreven, aangemeld, actief, bevestigd, akkoord, zapisany, zapisana, aktywny, aktywna, potwierdzony, prenumererar, prenumerant, bekraftad, godkand, tilmeldt, bekraeftet, godkendt, pameldt,",
    "購読中, 配信中, 登録済み, 同意, 同意する, 同意済み, 同意あり, 希望する, 希望, 許可, 有効, 配信可, подписан, подписана, активен, активный, активна, подтвержден, согласен, согласна, 已订阅, 동의",
  ),
);

/** Words that say so plainly that mail is not wanted that they mean it in any column. */
export const PLAIN_OUT_WORDS = new Set(
  words(
    "unsubscribed, unsub, unsubscribe, opted out, opt out, optout, globally unsubscribed, global unsubscribe, do not email, do not contact, do not mail, blocklisted, blacklisted, complained, spam complaint, marked as spam, hard bounce, hard bounced, bounced, suppressed, user suppressed, non subscribed, not subscribed, never subscribed, unsubscribed by admin, unsubscribed by user, email blacklisted,",
    "abgemeldet, ausgetragen, abbestellt, desabonne, desabonnee, desinscrit, desinscrite, dado de baja, dada de baja, de baja, desuscrito, desuscrita, disiscritto, disiscritta, descadastrado, descadastrada, desinscrito, uitgeschreven, afgemeld, wypisany, wypisana, avregistrerad, avanmald, avprenumererad, frameldt, afmeldt, avmeldt,",
    "配信停止, 退会, 退会済み, 購読解除, 登録解除, 配信拒否, 受信拒否, オプトアウト, отписан, отписана, отписался, отписалась, отписался от рассылки, 退订, 已退订, 수신거부, dezabonat, odhlasen",
  ),
);

/** Words that say that mail is not wanted or was not agreed to, in a column about that. */
export const OUT_WORDS = new Set([
  ...PLAIN_OUT_WORDS,
  ...words(
    "inactive, disabled, cleaned, spam, pending, unconfirmed, waiting, awaiting, awaiting confirmation, pending confirmation, unverified, never, not set, no permission, no consent, non marketing contact, not opted in, transactional, transactional only, denied, deny, refused, declined, rejected, revoked, withdrawn, objected, do not allow, not allowed, disallowed, not given, cancelled, canceled, removed, deleted, archived, invalid, undeliverable, blocked, unactivated, unengaged, expired, temp hold, soft bounced, excluded, stopped, quarantined, unknown consent, abuse, nonsubscriber, non subscriber, unmailable, undelivered, forgotten, redacted, left,",
    "inaktiv, gesperrt, gekundigt, widerrufen, widersprochen, abgelehnt, unbestatigt, nicht bestatigt, nicht abonniert, keine einwilligung, nicht erteilt, inactif, inactive, resilie, refuse, bloque, non abonne, non inscrit, non confirme, inactivo, inactiva, bloqueado, bloqueada, rechazado, cancelado, cancelada, no suscrito, baja, pendiente,",
    "inattivo, bloccato, rifiutato, annullato, cancellato, non iscritto, inativo, inativa, recusado, nao inscrito, pendente, inactief, geblokkeerd, geweigerd, opgezegd, niet akkoord, niet ingeschreven, nieaktywny, zablokowany, odrzucony, anulowany, niepotwierdzony, sparrad, avslutad, nekad, obekraftad, blokeret, spaerret, afvist, opsagt, ubekraeftet,",
    "停止, 停止中, 拒否, 拒否する, 同意しない, 同意なし, 未同意, 希望しない, 不要, 無効, 解除, 解除済み, 未登録, 配信不可, неактивен, неактивный, заблокирован, отказ, отказался, отозвано, не согласен, не согласна, не подписан, не подписана",
  ),
]);

/** Words for yes in a column of yes and no. */
export const YES_WORDS = new Set([
  ...words(
    "yes, y, true, t, 1, on, x, checked, ok, okay, set, ja, j, wahr, oui, o, vrai, si, verdadero, cierto, vero, sim, s, verdadeiro, waar, tak, prawda, sant, sann, sandt, jo, はい, 有, あり, 有り, 真, да, д, истина, так, 是, 예, evet, e, dogru, kylla, ano, igen, da",
  ),
  ..."✓✔✅☑○〇◯●+",
]);

/** Words for no in a column of yes and no. */
export const NO_WORDS = new Set([
  ...words(
    "no, n, false, f, 0, off, unchecked, not, nope, nein, falsch, non, faux, falso, nao, nee, niet, neen, onwaar, nie, falsz, nej, falskt, falsk, nei, usann, usant, usandt, いいえ, 無, 無し, 偽, нет, н, ложь, ні, 否, 不是, 아니오, hayir, yanlis, ei, ne, nem, nu",
  ),
  ..."✗✘❌×☐",
]);

/** Cells that say as little as an empty one. */
export const EMPTY_WORDS = new Set(
  words(
    "null, none, na, nan, nil, nul, undefined, empty, unknown, unbekannt, keine angabe, inconnu, desconocido, sconosciuto, desconhecido, onbekend, nieznany, okand, ukendt, 不明, неизвестно",
  ),
);

function words(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(",").flatMap((word) => (word.trim() === "" ? [] : [normalizeName(word)])));
}
