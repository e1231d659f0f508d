/**
 * Reasons other than a missing mailbox or domain: spam, policy, the sender, quota, size, load, time. Servers
 * combine them with any status code.
 */
export const OTHER_REASONS: readonly RegExp[] = [
  /\bspam|unsolicited|\bbulk\b|\bjunk\b|phish|virus|malware|infected|suspicious|\babus|reputation/i,
  /(?:black|block|deny|gr[ae]y)[ -]?list|\bblocked|\b(?:dns|r)bl\b|polic(?:y|ies)|\bcontent(?!-|s of this)|restrict/i,
  /(?<!not |n't )\blisted (?:at|by|in|on)\b|\bdmarc\b|\bspf\b|\bdkim\b|authenti|authori[sz]|permission|permitted|not allowed|credential/i,
  /quota|\bfull\b|exceed|insufficient|\bstorage|\bdisk\b|over (?:\w{1,9} ){0,2}limit|\blimit(?:ed)?\b|maximum/i,
  /too (?:large|big|long|many|much|busy|fast|old)|\bsize\b|throttl|\brate\b|overload|congest|\bbusy\b/i,
  /temporar|\blater\b|again in \d|not found,? (?:please )?try again|\bdefer/i,
  /\brelay(?! recipient table)|\bloop|\bhops?\b|\bpreferences\b|timed? ?-?out|(?:message|delivery|queue|retry)[^.;]{0,30}expired/i,
  /\b(?:from|sender): .{0,20}(?:domain|invalid)|\bvalid from\b|\binvalid ip\b|for sending mail|not accept (?:any )?(?:e-?)?mail from|redundant/i,
  /couldn't create|\/var\/(?:spool|mail)\/|メールボックスが(?:一杯|いっぱい|満杯)/i,
  /\bstarttls|\btls\b|encrypt|certificate|\bh?elo\b|\behlo\b|\bptr\b|\brdns\b|\breverse\b|client host/i,
  /\byour (?:ip|host|server|domain|account|network)\b|\bhostname\b|\bmail from\b|from address/i,
  /\b(?:sender|return[ -]path|originator|envelope from)(?:'s|s)? (?:e-?mail |mail )?(?:address(?!:)|domain|verif|id\b)/i,
  /\b(?:sender|return[ -]path|originator)(?:'s|s)? (?:polic|is\b|was\b|not\b|rejected|denied|unknown|host|does|has\b)/i,
  /\b(?:bad|invalid|unknown|non-?existent|verify|verifying) (?:the )?(?:envelope )?sender/i,
  /\b(?:domain|address) of (?:the )?sender|\bsender\b[^.;]{0,20}\binvalid/i,
  /\bvoll\b|überschritten|speicher|absender|dépass|saturée|pleine|\bexpéditeur\b[^.;]{0,40}(?:refus|inconnu|rejet)/i,
  /\bllen[ao]|excedid|supera(?:d|\b)|\bpiena|esaurit|\bcheia|lotad|remetente[^.;]{0,40}(?:inv|desc)|\bvol\b/i,
  /przepełnion|\bplná\b|переполнен|превышен|спам|переповнен|\bdolu\b|kotası|\bfuld\b|\bfull(?:t)?\b|täynnä/i,
  /容量|満杯|超え|已满|已滿|超出|超过|超過|垃圾|スパム|迷惑|초과|가득|稍后|频率/,
]

/**
 * Words that say that the mailbox or the domain does not exist, or that the account is closed. The pattern for
 * each language allows some words between the noun and the verb, but no end of a sentence.
 */
export const GONE: readonly RegExp[] = [
  // user … unknown, account … disabled
  /\b(?:user(?:name| ?id)?|recipient|rcpt|addressee|person|subscriber|customer)s?\b[^.;]{0,60}\b(?:unknown|non-?existent|inexistent|invalid|unavaila?ble|disabled|deactivated|inactive|suspended|closed|deleted|no longer)\b/i,
  /\b(?:mail ?box(?:es)?|in-?box|address(?:es)?|accounts?|e-?mails?|alias(?:es)?|local[- ]?part)\b[^.;]{0,60}\b(?:unknown|non-?existent|inexistent|invalid|unavaila?ble|disabled|deactivated|inactive|suspended|frozen|closed|deleted|discontinued|terminated|archived|cancell?ed|no longer)\b/i,
  // user … does not exist, mailbox could not be found, address isn't valid
  /\b(?:user(?:name| ?id)?s?|recipients?|rcpt|addressees?|person|subscriber|customer)\b[^.;]{0,60}?(?:\bnot?|\bcannot|n't|'nt|nt)(?: \w{1,12}){0,2} (?:found|known|exists?|valid|recogni[sz]ed|active|listed|local|present|registered|located|available|accepted)\b/i,
  /\b(?:mail ?box(?:es)?|in-?box|address(?:es)?|accounts?|e-?mails?|alias(?:es)?|local[- ]?part)\b[^.;]{0,60}?(?:\bnot?|\bcannot|n't|'nt|nt)(?: \w{1,12}){0,2} (?:found|known|exists?|valid|recogni[sz]ed|active|listed|local|present|registered|located|available|in use)\b/i,
  // no such user, no account by that name
  /\bno such\b[^.;]{0,30}\b(?:user|recipient|mail ?box|person|address|account|domain|host|alias|local|name|here)/i,
  /\bno such (?:\w{1,20} )?(?:destination|e-?mail|customer|subscriber)|\bno one (?:here )?(?:at|by|with) th/i,
  /\bno (?:valid )?(?:mail ?box|account|user|recipient|alias)e?s?\b[^.;]{0,20}\b(?:here|by th|with that|found|for|named)/i,
  /\bthere is no (?:mail ?box|account|user|recipient|one|such)|\bnot? (?:a )?valid recipients?\b/i,
  // unknown user, invalid mailbox, unrouteable address
  /\b(?:unknown|invalid|non-?existent|inexistent|unrecogni[sz]ed|unroute?able|illegal|undeliverable|disabled|inactive|deactivated|suspended)(?: or (?:\w{1,15} ){0,2}\w{1,15})?,?[ (:]{1,3}(?:e-?mail |mail |virtual |local |destination |remote |final |final delivery )?(?:user|recipient|rcpt|mail ?box|address|e-?mail|account|local[- ]?part|alias|domain|host(?!name)|destination)/i,
  /\bbad (?:destination (?:mailbox|e-?mail|address|system|host)|recipient|address)|badrcptto|validrcptto|user not on/i,
  /\b(?:recipient|address|user|mail ?box)[: ]{1,2}(?:was |were )?not found|^[\s<>:]{0,10}not found/i,
  // doesn't have a … account, is not a valid mailbox, not listed in the directory
  /n[o']t have an? (?:[^\s.;]{1,60} ){0,3}(?:account|mail ?box|address)/i,
  /n(?:ot|'t) (?:an? |our |one of our |any |the )?(?:valid |known |registered |local |active |listed |existing )?(?:user|recipient|mail ?box|address|account|customer|member|subscriber)\b/i,
  /n(?:ot|'t) (?:listed|known|found|registered|present|hosted|defined|located) (?:in|at|on|here|to|by|within)\b/i,
  /n[o']t match any|\bnot be (?:found|located)|(?:doesn't|does not|do not|don't) exists?\b|(?<!\bmay |\bmight )\bnot exists?\b/i,
  // domains
  /\b(?:domain|host)s?\b[^.;]{0,60}\b(?:unknown|not found|non-?existent|must exist|invalid|n[o']t (?:appear to )?(?:exist|resolve))\b/i,
  /\bno such (?:domain|host)|n[o']t find any (?:mail ?)?host|name or service not known|\bnull mx\b/i,
  /n[o']t (?:accept|receive) (?:any )?e?-?mail\b|unroute?able (?:mail )?(?:domain|address)|indicated no SMTP service/i,
  /n[o']t find a mail exchanger|\bno mx (?:record )?found|domain is not reachable/i,
  // people and accounts that were there once
  /\b(?:user|recipient|person|employee|mailbox|address|account|addressee)\b[^.;]{0,40}\b(?:has|have) (?:moved|left|been (?:closed|disabled|deleted|removed|deactivated|discontinued|terminated))/i,
  /\baccount (?:is |has been )?locked|\b(?:account|mail ?box) (?:has |is )?expired|\bnot on (?:this|our) (?:system|server)|user missing|\bmoved to\b[^.;]{0,20}(?:<>|please)/i,
  // German, French, Spanish, Portuguese, Italian
  /(?:benutzer|empfänger|adress|postfach|konto|domain)[^.;]{0,60}(?:unbekannt|nicht gefunden|nicht vorhanden|existiert nicht|nicht existiert|ungültig|gesperrt|deaktiviert|nicht mehr|gelöscht)/i,
  /unbekannter? (?:benutzer|empfänger|adress)|\bkein (?:benutzer|postfach|konto)/i,
  /(?:utilisateur|destinataire|adresse|bo[iî]te|compte|domaine)[^.;]{0,60}(?:inconnu|introuvable|invalide|n.existe pas|inexistant|archiv[eé]e|d[eé]sactiv[eé]|supprim[eé]|ferm[eé]|suspendu|pas été trouvé)/i,
  /(?:usuario|destinatario|direcci[oó]n|buz[oó]n|cuenta|dominio)[^.;]{0,60}(?:desconocid|no existe|inexistente|no v[aá]lid|inv[aá]lid|no (?:se )?(?:ha )?(?:pudo )?encontr|inactiv|suspendid|desactivad)/i,
  /no existe (?:dicha|ese|esa|el|la)\b|no se ha encontrado la direcci|nessun utente|\bn[aã]o existe\b/i,
  /(?:usu[aá]rio|destinat[aá]rio|endere[cç]o|caixa|conta|dom[ií]nio)[^.;]{0,60}(?:desconhecid|n[aã]o (?:foi )?(?:existe|encontrad|localizad)|inexistente|inv[aá]lid|inativ|suspens|desativad)/i,
  /(?:utente|destinatario|indirizzo|casella|account|dominio)[^.;]{0,60}(?:sconosciut|non (?:esiste|trovat|valid|è stato trovat|riconosciut|attiv)|inesistente|disabilitat|disattivat|sospes)/i,
  // Dutch, Danish, Norwegian, Swedish, Finnish
  /(?:gebruiker|ontvanger|adres|postbus|mailbox|account|domein)[^.;]{0,60}(?:onbekend|bestaat niet|niet (?:gevonden|bestaat|meer)|ongeldig)/i,
  /(?:bruger|modtager|adress|postkass|använd|mottagar|brevlåd|bruker|mottaker|postboks|konto|domæne|domän)[^.;]{0,60}(?:ukendt|ukjent|okänd|findes ikke|finnes ikke|eksisterer ikke|finns inte|existerar inte|ikke (?:blev )?fundet|ikke funnet|hittades inte|ugyldig|ogiltig)/i,
  /(?:käyttäjä|vastaanottaja|osoite|postilaatikko)[^.;]{0,60}(?:tuntematon|ei ole olemassa|ei löy(?:dy|tynyt))/i,
  // Polish, Czech, Russian, Ukrainian, Turkish
  /(?:użytkownik|odbiorc|adres|skrzynk|kont|domen)[^.;]{0,60}(?:nieznan|nie istnieje|nie został[aoy]? znalezion|nie znaleziono|nieprawidłow)/i,
  /(?:uživatel|příjemc|adres|schránk|účet|domén)[^.;]{0,60}(?:neznám|neexistuj|nenalezen|nebyl[ao]? nalezen)/i,
  /(?:пользовател|получател|адрес|ящик|аккаунт|домен|користувач|одержувач|отримувач|скриньк)[^.;]{0,60}(?:не найден|не существует|не зарегистрирован|неизвест|заблокирован|отключ[её]н|удал[её]н|не знайден|не існує|невідом)/i,
  /нет такого|неизвестный (?:пользователь|получатель|адрес)/i,
  /(?:kullanıcı|alıcı|adres|hesap|posta kutusu|etki alanı|alan adı)[^.;]{0,60}(?:bulunamadı|mevcut değil|bilinmiyor|geçersiz)/i,
  // Japanese, Chinese, Korean
  /(?:宛先|ユーザ|アドレス|受信者|メールボックス|アカウント|ドメイン)[^。]{0,40}(?:不明|存在しま?せん|存在しない|見つかりません|存在していません|無効|間違)|ディレクトリのリストにありません/,
  /(?:用户|用戶|收件人|地址|邮箱|郵箱|信箱|账号|帐号|帳號|域名|使用者)[^。]{0,30}(?:不存在|未找到|找不到|无效|無效|停用|禁用|冻结|凍結|注销)/,
  /(?:无此|無此|没有此|沒有此|找不到)(?:用户|用戶|收件人|邮箱|使用者|地址)/,
  /(?:사용자|수신자|주소|메일함|계정|도메인)[^.]{0,30}(?:존재하지|찾을 수 없|없는|없습니다)/,
]

/**
 * The same in the condition names of Exchange and IronPort, in links of Gmail, and in what other servers say
 * of a recipient that their directory does not contain
 * (https://learn.microsoft.com/exchange/troubleshoot/email-delivery/ndr/fix-error-code-550-5-4-1).
 */
export const GONE_CONDITION =
  /recip(?:ient)?_?not_?found|recipient address rejected\.(?: \(|$)|unknown_?recipient|infodomainnonexistent|nxdomain|nosuchuser/i
export const NOT_IN_DIRECTORY =
  /recipient address rejected: access denied|mailbox unavailable or access denied/i

/** `5.1.0 Address rejected`, without a reason, is about the recipient. */
export const ADDRESS_REJECTED = /^[<>\s.,:]{0,20}address rejected\b(?!:)|\brecipient rejected\b(?!:)/i
