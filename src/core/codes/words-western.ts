import type { Words } from './words.ts'

/** Germanic and Romance languages. */
export const WESTERN: Readonly<Record<string, Words>> = {
  en: {
    code: 'code, codes, pin, token, tan, passphrase, confirmation code*, access code*, guard code, passcode*, tac, digits below, following digits, numbers below, following number, following numbers, numbers above, digits above',
    once: 'multi factor code*, multifactor code*, verification code*, verify code, security code*, authentication code*, authorization code, activation code*, validation code*, auth code, 2fa code, two factor code, one time code*, one time pass*, one time pin*, one time security code, single use code*, temporary code, temporary login code, otp, otps, otac, totp, mtan, magic code, digit code, digit pin, digit number, launch code, verification pin, security pin, verification number, login token, sign in token, steam guard, code to verify, code to sign in, code to log in, code to login, code to confirm, recovery code, identification code, email code, sms code, tac code, tac number, sign in pin, login pin, backup code*, registration code*, snapchat code, log in code*, login code*, device code, 3d secure, phone code, pairing code, email verification pin, access pin',
    signIn:
      'sign in*, signin*, signing in, sign on, log in, log into, logging in, login, logon, log on, logging into, authenticate, authenticating, two factor, two step, 2fa, mfa, magic link*, passwordless, signs you in, logs you in, multi factor, multifactor, authorize logging in, trust this device, new device, new location, secure link, get you signed in, get signed in, continue to, continue with',
    verify:
      'verif*, confirm your*, confirm that*, confirm this*, confirm the*, confirm email*, confirm e mail*, confirm account, confirm my*, confirm it*, confirm registration, confirm subscription, confirm, confirming, confirmation instructions, email confirmation, activate*, activation, validate*, sign up, signing up, signed up, registration, create your account, creating your account, complete your account, complete registration, finish setting up, to approve, to authorise, to authorize, authorise this, authorize this, complete sign up, complete your registration, complete your sign up, to activate, to register, registering',
    reset:
      'reset*, forgot password, forgotten password, forgot your password, recover your account, account recovery, password recovery, recover access, change your password, change my password, choose a new password, create a new password, set a new password, set your password, set a password, set password, update your password, new password, lost your password, create new password, create password, new passphrase',
    expiry:
      'expire*, expiring, valid for, valid until, valid till, is valid, only valid, good for, minutes, mins, within the next',
    warn: 'do not share, don t share, never share, don t give, do not give, never give, don t forward, do not forward, not share this, keep it secret, will never ask, will not ask, never ask you for, one time, single use, don t tell, do not tell, do not disclose, never disclose, don t disclose, not share it, don t share, never tell, never ask for, not tell anyone, no one from',
    ignore:
      'if you did not, if you didn t, if you have not, if you haven t, if it wasn t you, if this wasn t you, if this was not you, wasn t you, did not request, didn t request, not request this, didn t make this, did not make this, didn t ask, did not ask, didn t try, didn t attempt, ignore this, ignore the, ignore it, safely ignore, disregard, not you, weren t you, if you weren t, did not attempt, not you, someone else may have, do not recognise, do not recognize, don t recognise, don t recognize, by mistake',
    other:
      'accept invit*, accept the invit*, accept your invit*, accept my invit*, accept this invit*, unlock your account, unlock my account, unlock account, confirm deletion, delete my account, approve sign in, approve this device, join the team, join workspace, join team, join organization, join the workspace, join the organization',
    drop: 'unsubscribe*, opt out, preferences, privacy*, terms, help center, help centre, contact us, contact support, get help, support team, learn more, view in browser, view online, view this email, report*, not me, it wasn t me, secure your account, secure my account, review activity, check activity, review your account, manage, settings, download, faq*, website, homepage, visit our, follow us, read more',
    not: 'username, user name, order*, invoice*, tracking, tracking code*, tracking number*, track, shipment*, parcel*, package*, phone, tel, telephone, mobile number, phone number, fax, call, call us, ref, reference*, ticket*, case, customer number, customer id, customer no, client number, account number, account no, account id, user id, member id, membership number, ending, ending in, ending with, card, card number, zip, zip code*, zipcode*, postal code*, postcode*, post code*, promo*, promo code*, promotion code*, promotional code*, coupon*, coupon code*, discount*, discount code*, voucher*, voucher code*, gift card*, gift code*, referral code*, offer code*, booking*, booking code*, booking confirmation code*, reservation*, reservation code*, confirmation number*, itinerary, pnr, flight*, record locator, area code*, country code*, dialing code*, source code, code review*, code of conduct, code of practice, code of ethics, code change*, code base, codebase, vs code, error code*, status code*, exit code*, response code*, return code, http, qr code*, bar code*, barcode*, swift*, iban, sort code*, bic, vat, tax, product code*, item*, item code*, sku, model*, serial*, part number, po box, suite, floor, street, version*, build, issue*, pull request*, commit*, meeting id, meeting*, meeting code, webinar*, dial in, conference*, extension, ext, amount, total, price*, balance, year*, copyright, since, points, miles, dress code, color code*, colour code*, transaction*, receipt*, statement*, bill*, quote, quotation, policy, policy number, claim*, employee*, incident*, request id, request number, delivery code, pickup code, pick up code, locker, license key*, licence key*, error, line, port, room, gate, seat, score, people, users, members, words, pages, usd, eur, gbp, inr, ip address, device id, tax code*, paper code*, lot code*, batch code*, course code*, class code*, module code*, unit code*, door code*, gate code*, entry code*, building code*, station code*, airport code*, currency code*, department code*, cost code*, project code*, room code*, key code*, keypad code, alarm code, style code*, job code*, branch code*, ifsc code*, fault code*, reason code*, hs code*, merchant code*, charge code*, wifi password, wi fi password, network password, password resets, logins, sign ins, sign ups, signups, registrations, verifications, candidate number, centre number, seat number, vote, application number, imei, vin, wifi code, radio code, morse code, penal code, civil code, labor code, labour code, school code, event code, game pin, donation*, access points, sample code*, order code*, ticket code*, code freeze, code word*, service code*, bet code, wrap code',
    shop: 'checkout, check out, sale, off, save, shop, shopping, discount*, deal*, offer*, coupon*, promo*, free shipping, newsletter, webinar*, boarding, check in, departure, arrival, hotel, flight*, reservation*, booking*, passenger*, meeting*, zoom, dial in, conference call, license key*',
  },
  de: {
    code: 'code, codes, pin, tan, token, kennwort, zugangscode*, passwort, losung, einladungscode, passcode*, diese ziffern, folgenden ziffern, folgende ziffern, zahlencode*, pincode*',
    once: 'bestatigungscode*, bestatigungs code, sicherheitscode*, sicherheits code, verifizierungscode*, verifikationscode*, anmeldecode*, einmalcode*, einmalpasswort*, einmalkennwort*, einmal code, einmal passwort, einmal pin, aktivierungscode*, freischaltcode*, freigabecode*, authentifizierungscode*, identifizierungscode*, prufcode*, einmalpin, logincode*, login code, registrierungscode*, mtan, pushtan, smstan, sms tan, sms code, stelligen code, stelliger code, stellige code, validierungscode*, legitimierungscode*, verifizierungs code, transaktionscode*, ihre tan, deine tan, die tan, tan fur, tan lautet, zahlungscode*, einwahlcode, kontaktcode, sms kode, photo tan, chiptan, zugangs pin, login pin, entsperrcode*',
    signIn:
      'anmeld*, einlogg*, einzulogg*, einzuloggen, anzumelden, melde dich an, login, authentifizier*, zwei faktor*, weiter zu, zugang',
    verify:
      'bestatig*, verifizier*, verifikation*, aktivier*, freischalt*, validier*, registrier*, konto erstell*, account erstell*, zu bestatigen, freischaltung',
    reset:
      'zurucksetz*, zuruckzusetz*, zurucksetzung*, passwort vergessen, kennwort vergessen, neues passwort, passwort andern, passwort festlegen, passwortzurucksetzung, wiederherstell*, passwort neu, kennwort neu, passwort vergessen, ihr passwort vergessen, passwort wiederherstellen, neues kennwort, passwort setzen, passwort erstellen',
    expiry: 'gultig*, lauft ab, lauft in, ablauft, ablaufen, verfallt, minuten, gilt fur, gilt nur',
    warn: 'nicht weiter*, niemals weiter*, niemandem, teile diesen code nicht, teilen sie diesen code, geben sie diesen code nicht, gib ihn nicht, gib diesen code, geheim, einmalig*, niemals am telefon, nicht am telefon, niemals an dritte, nicht an dritte, nur in der app',
    ignore:
      'wenn du nicht, wenn sie nicht, falls du, falls sie, nicht angefordert, nicht du, nicht sie, ignorier*, keine anmeldung, nicht veranlasst, als gegenstandslos, warst du das nicht, waren sie das nicht, nicht von dir, nicht von ihnen',
    other: 'einladung annehmen, konto entsperren, loschung bestatigen, einladung akzeptieren',
    drop: 'abmelde*, abbestell*, datenschutz*, impressum, agb, hilfe*, kontakt*, einstellungen, mehr erfahren, im browser ansehen, sichern, kundenservice, newsletter abmelden, melden',
    not: 'bestell*, rechnung*, sendung*, sendungsnummer*, paket*, telefon*, tel, fax, mobil*, kundennummer*, kunden nr, vorgang*, aktenzeichen, auftrag*, kontonummer, konto nr, karte*, endet auf, endziffern, plz, postleitzahl, gutschein*, gutscheincode*, rabatt*, rabattcode*, aktionscode*, promocode*, buchung*, buchungscode*, buchungsnummer, reservierung*, flug*, qr code*, quellcode*, fehlercode*, strichcode*, landercode*, vorwahl, artikel*, referenz*, steuernummer, ust, hrb, iban, bic, blz, betrag, summe, gesamt, preis*, euro, jahr*, seit, ticket*, mitglieds*, vertrag*, versicherung*, nummer, wlan passwort, wlan schlussel, turcode*, fahrzeug, zahlernummer*, quittung*, superzahl, steuer id*, zimmer, raum, gerate nr',
    shop: 'rabatt*, gutschein*, angebot*, sparen, warenkorb, kasse, aktion*, flug*, hotel, reise*',
  },
  fr: {
    code: 'code, codes, pin, jeton, mot de passe, code d acces, chiffres ci dessous, chiffres suivants, code ci dessous',
    once: 'code de verification, code de confirmation, code de securite, code de connexion, code d authentification, code d activation, code de validation, code unique, code a usage unique, code temporaire, code d identification, mot de passe a usage unique, mot de passe unique, mot de passe temporaire, code sms, code secret, a 6 chiffres, a 4 chiffres, a 8 chiffres, a six chiffres, otp, code d identification, code de paiement, code sms, code confidentiel, code de double authentification, code d inscription, code recu',
    signIn:
      'connexion, connecter, connectez*, connecte toi, se connecter, identifi*, authentifi*, double facteur, lien magique, lien de connexion, lien d acces, continuer vers, acceder a',
    verify:
      'verifi*, confirm*, activer, activez, activation, valider, validez, inscription, inscrire, creation de votre compte, creer votre compte, valider votre, valider ton, finalis*, achever votre inscription, terminer votre inscription',
    reset:
      'reinitialis*, mot de passe oublie, nouveau mot de passe, changer votre mot de passe, changer de mot de passe, modifier votre mot de passe, recuperation, recuperer, oublie votre mot de passe, oublie ton mot de passe, mot de passe perdu, redefinir, choisir un nouveau, nouveau mot, creer un mot de passe, creer mon mot de passe',
    expiry: 'expire*, expiration, valable*, valide pendant, minutes',
    warn: 'ne partagez, ne le partagez, ne communiquez, ne le communiquez, ne divulguez, ne transmettez, ne jamais, jamais ce code, confidentiel, usage unique',
    ignore:
      'si vous n avez pas, si vous n etes pas, si ce n est pas vous, vous n etes pas a l origine, n avez pas demande, n avez pas fait, ignorez*, ignorer, si tu n as pas, ne pas tenir compte, ce n etait pas vous, ce n est pas vous, n est pas vous',
    other:
      'accepter l invitation, debloquer votre compte, deverrouiller votre compte, rejoindre l equipe, confirmer la suppression',
    drop: 'desabonn*, desinscri*, confidentialite, conditions, aide, contactez, preferences, parametres, en savoir plus, en ligne, service client, securiser, signaler',
    not: 'commande*, facture*, suivi, numero de suivi, colis, telephone, tel, fax, mobile, numero de client, client, reference*, dossier, carte*, se terminant, code postal, codes postaux, code promo*, code de reduction, code de reservation, code reduction, bon de reduction, coupon*, reservation*, vol, code barre*, code barres, code qr, qr code, code source, code erreur, code d erreur, code produit, siret, siren, rcs, tva, iban, montant, total, prix, euros, annee*, depuis, billet*, contrat, adherent, code cadeau, code parrainage, numero, ticket*, digicode, chambre, voiture, salle, cle wifi, releve*, abonne*, plaque',
    shop: 'promo*, reduction*, solde*, panier, offre*, livraison, vol, hotel, billet*, reservation*',
  },
  es: {
    code: 'codigo*, clave, claves, pin, token, contrasena, codigo de acceso, clave de, digitos siguientes, siguientes digitos, estos numeros, siguiente numero, numeros siguientes, estos digitos',
    once: 'codigo de verificacion, codigo de confirmacion, codigo de seguridad, codigo de autenticacion, codigo de activacion, codigo de inicio, codigo de inicio de sesion, codigo de validacion, codigo unico, codigo de un solo uso, codigo temporal, codigo otp, clave dinamica, clave de un solo uso, contrasena de un solo uso, contrasena temporal, clave temporal, clave sms, codigo sms, de 6 digitos, de 4 digitos, de 8 digitos, de seis digitos, codigo de identificacion, clave de confirmacion, clave de seguridad, clave de verificacion, clave de acceso, codigo de ingreso, codigo de registro, clave unica, codigo de autorizacion, codigo de compra, codigo de pago, codigo de recuperacion, pin de acceso',
    signIn:
      'inicio de sesion, iniciar sesion, inicia sesion, inicie sesion, iniciando sesion, acceder, ingresar, entrar en tu cuenta, autentic*, dos pasos, dos factores, enlace magico, enlace de acceso, entrar en, continuar a, continuar en',
    verify:
      'verific*, verifique*, confirm*, activa, activar, active, activacion, validar, valida, registr*, crear tu cuenta, crear su cuenta, completar tu registro, completar su registro, completa tu registro, autorizar, aprobar',
    reset:
      'restablec*, reestablec*, restaurar, olvidaste, olvido su contrasena, nueva contrasena, cambiar tu contrasena, cambiar su contrasena, cambiar la contrasena, recuperar, recuperacion, crear contrasena, crear una contrasena, recupera tu',
    expiry: 'caduc*, expira*, vence*, valido*, valida por, minutos, vigencia',
    warn: 'no compartas, no comparta, no lo compartas, no lo comparta, nunca compartas, no reveles, no revele, un solo uso, confidencial, no lo des, no la compartas, no la comparta, nunca lo compartas, nunca te lo pediremos, nunca le pediremos, con nadie, a nadie',
    ignore:
      'si no has, si no fuiste, si no solicit*, si no lo has, si usted no, si tu no, si no reconoces, no has solicitado, no solicitaste, ignora*, ignore*, omite, haz caso omiso, no fuiste tu, no fuiste, no ha sido usted, no has sido tu',
    other:
      'aceptar invitacion, aceptar la invitacion, desbloquear cuenta, desbloquear tu cuenta, confirmar eliminacion, unirse al equipo',
    drop: 'darse de baja, darte de baja, cancelar suscripcion, cancelar la suscripcion, privacidad, terminos, ayuda, soporte, contacta*, preferencias, configuracion, mas informacion, ver en el navegador, protege tu cuenta, denunciar',
    not: 'pedido*, orden, factura*, seguimiento, codigo de seguimiento, numero de seguimiento, envio*, paquete*, telefono*, tel, movil, cliente*, referencia*, cuenta terminada, terminada en, terminacion, tarjeta*, codigo postal, codigos postales, codigo promocional, codigo de descuento, codigo descuento, cupon*, codigo de reserva, reserva*, vuelo*, localizador, codigo de barras, codigo qr, codigo fuente, codigo de error, codigo de producto, nif, cif, rfc, iban, importe, monto, total, precio*, euros, ano*, desde, boleto*, ticket*, poliza, contrato, caso, numero, codigo de referido, clabe, clave wifi, contrasena wifi, expediente*, habitacion*, consulta, matricula*, cups, contador',
    shop: 'descuento*, oferta*, rebaja*, carrito, cupon*, vuelo*, hotel, reserva*',
  },
  pt: {
    code: 'codigo*, pin, token, senha, chave, codigo de acesso, digitos abaixo, numero abaixo, numeros abaixo',
    once: 'codigo de verificacao, codigo de confirmacao, codigo de seguranca, codigo de autenticacao, codigo de ativacao, codigo de acesso, codigo de login, codigo de validacao, codigo unico, codigo de uso unico, codigo temporario, senha de uso unico, palavra passe de utilizacao unica, senha temporaria, senha unica, codigo sms, de 6 digitos, de 4 digitos, de 8 digitos, de seis digitos, codigo de identificacao, codigo de utilizacao unica, codigo de entrada, codigo de registo, codigo de cadastro, codigo de recuperacao, codigo de autorizacao, codigo de aprovacao, senha sms, chave de seguranca, codigo de utilizador',
    signIn:
      'login, fazer login, iniciar sessao, inicio de sessao, inicie sessao, entrar, acessar, acesso a sua conta, autentic*, duas etapas, dois fatores, link magico, link de acesso, entrar na*, continuar para',
    verify:
      'verific*, verifique, confirm*, ativar, ative, ativacao, activar, validar, valide, cadastr*, registo, registar, criar sua conta, criacao de conta, aprovar, autorizar, concluir o seu cadastro, concluir seu cadastro',
    reset:
      'redefin*, repor, reposicao, esqueceu, esqueci, nova senha, nova palavra passe, alterar sua senha, alterar a senha, trocar a senha, recuperar, recuperacao, criar senha, criar uma nova, definir senha, definir nova',
    expiry: 'expira*, valido*, valida por, validade, minutos, vence',
    warn: 'nao compartilhe, nao partilhe, nunca compartilhe, nao divulgue, nao informe, nao o partilhe, uso unico, confidencial, nao o repasse, nao repasse, nunca informe, nao passe, a ninguem, com ninguem',
    ignore:
      'se voce nao, se nao foi voce, se nao solicit*, se nao pediu, nao foi voce, nao solicitou, nao reconhece, ignore*, desconsidere*, se nao fez',
    other:
      'aceitar convite, aceitar o convite, desbloquear conta, desbloquear sua conta, entrar na equipe, confirmar exclusao',
    drop: 'cancelar inscricao, descadastr*, cancelar a subscricao, privacidade, termos, ajuda, suporte, contato, preferencias, configuracoes, saiba mais, ver no navegador, proteja sua conta, denunciar',
    not: 'pedido*, encomenda*, fatura*, nota fiscal, rastreio, rastreamento, codigo de rastreio, codigo de rastreamento, envio*, telefone*, tel, celular, cliente*, referencia*, protocolo*, final, terminado em, cartao*, cep, codigo postal, codigo promocional, codigo de desconto, cupom*, cupao, codigo de reserva, reserva*, voo*, localizador, codigo de barras, codigo qr, qr code, codigo fonte, codigo de erro, codigo do produto, cnpj, cpf, nif, iban, valor, total, preco*, reais, ano*, desde, bilhete*, ticket*, apolice, contrato, numero, chave pix, pix, codigo de indicacao, senha do wifi, senha wi fi, sala, quarto, boleto*',
    shop: 'desconto*, oferta*, promoc*, carrinho, cupom*, voo*, hotel, reserva*, frete',
  },
  it: {
    code: 'codice, codici, pin, token, password, codice di accesso, cifre seguenti, seguenti cifre, numero seguente',
    once: 'codice di verifica, codice di conferma, codice di sicurezza, codice di autenticazione, codice di attivazione, codice di accesso, codice di convalida, codice monouso, codice temporaneo, codice usa e getta, codice otp, password monouso, password temporanea, password usa e getta, codice sms, a 6 cifre, a 4 cifre, a 8 cifre, a sei cifre, codice di identificazione, codice univoco, codice dispositivo, codice autorizzativo, codice di autorizzazione, codice dispositivo, codice di login, codice di registrazione, codice di recupero, pin temporaneo, codice di pagamento, codice segreto',
    signIn:
      'accedere, accedi, acceda, accesso, login, autentic*, effettuare l accesso, due fattori, link magico, link di accesso, continua su, prosegui',
    verify:
      'verific*, verifica, conferm*, attiva, attivare, attivazione, convalid*, registra*, creare il tuo account, iscrizione, autorizzare, approvare, completa la registrazione, completare la registrazione',
    reset:
      'reimpost*, reimpostazione, ripristin*, password dimenticata, dimenticato la password, nuova password, cambiare la password, modificare la password, recuper*, resettare, crea password, imposta password, imposta la password, imposta una nuova',
    expiry: 'scad*, valido*, valida per, minuti',
    warn: 'non condividere, non condividerlo, non comunicare, non comunicarlo, non divulgare, monouso, riservato, a nessuno, con nessuno, mai al telefono, non fornire, non fornirlo',
    ignore:
      'se non hai, se non sei stato, se non ha richiesto, se non lo hai, se non riconosci, non hai richiesto, non sei stato tu, ignora*, ignorare, ignori, non sei tu, non e stata tua',
    other:
      'accetta invito, accetta l invito, sblocca account, sblocca il tuo account, unisciti al team, conferma eliminazione',
    drop: 'annulla iscrizione, annullare l iscrizione, disiscri*, privacy, termini, assistenza, aiuto, contatta*, preferenze, impostazioni, scopri di piu, visualizza nel browser, proteggi il tuo account, segnala',
    not: 'ordine, ordini, fattura*, spedizion*, tracciamento, codice di tracciamento, pacco, telefono*, tel, cellulare, cliente, codice cliente, riferimento, pratica, carta, terminante, che termina, codice postale, codice promo*, codice promozionale, codice sconto, coupon*, buono, codice di prenotazione, prenotazion*, volo*, codice a barre, codice qr, qr code, codice sorgente, codice errore, codice di errore, codice prodotto, codice fiscale, codice civile, partita iva, p iva, iban, importo, totale, prezzo*, euro, anno*, biglietto*, ticket*, polizza, contratto, numero, codice amico, password wifi, password wi fi, ambulatorio, camera, stanza, targa',
    shop: 'sconto*, offert*, saldi, carrello, coupon*, volo*, hotel, prenotazion*, promozion*',
  },
  nl: {
    code: 'code, codes, pincode, pin, token, toegangscode, wachtwoord, deze cijfers, volgende cijfers',
    once: 'verificatiecode*, bevestigingscode*, beveiligingscode*, inlogcode*, aanmeldcode*, activeringscode*, activatiecode*, eenmalige code, eenmalig wachtwoord, eenmalige toegangscode, authenticatiecode*, controlecode*, sms code, tan code, cijferige code, tijdelijke code, validatiecode*, toegangscode*, eenmalige pincode, herstelcode*, registratiecode*, betaalcode*, loginpin, autorisatiecode*',
    signIn:
      'inlog*, in te loggen, log in, logt in, aanmeld*, aan te melden, meld je aan, authenticatie, tweestaps*, magische link',
    verify:
      'verifi*, bevestig*, te bevestigen, activeer*, activeren, valideer*, registr*, account aan te maken, dit is mijn e mailadres, mijn e mailadres, goedkeuren, goed te keuren, registratie afronden',
    reset:
      'opnieuw in te stellen, opnieuw instellen, resetten, herstel*, wachtwoord vergeten, nieuw wachtwoord, wachtwoord wijzigen, wachtwoord instellen, wachtwoordherstel, stel je wachtwoord, wachtwoord maken, kies een wachtwoord',
    expiry: 'verloopt, vervalt, geldig*, minuten',
    warn: 'deel deze code, deel dit niet, niet delen, nooit delen, deel hem niet, met niemand, eenmalig*',
    ignore:
      'als je niet, als u niet, als u dit niet, als je dit niet, niet aangevraagd, heb je dit niet, heeft u dit niet, niet door jou, negeer*, negeren, was jij dit niet, was jij, was u dit niet, ben jij dit niet',
    other: 'uitnodiging accepteren, account ontgrendelen, accepteer de uitnodiging, verwijdering bevestigen',
    drop: 'afmelden, uitschrijven, privacy*, voorwaarden, hulp, helpcentrum, contact*, voorkeuren, instellingen, meer informatie, bekijk online, klantenservice, beveilig*',
    not: 'bestel*, ordernummer, order*, factuur*, track, trackingcode*, zending*, pakket*, telefoon*, tel, mobiel*, klantnummer*, klant, referentie*, zaak, rekening*, kaart*, eindigend op, postcode*, kortingscode*, kortings*, actiecode*, promocode*, couponcode*, cadeaukaart*, boeking*, boekingscode*, reservering*, vlucht*, qr code*, broncode, foutcode*, streepjescode*, landcode*, kvk, btw, iban, bedrag, totaal, prijs*, euro, jaar*, sinds, ticket*, polis*, lidmaatschap*, nummer, wifi wachtwoord, wifi code, kamer, meterstand*, kenteken*, deurcode*',
    shop: 'korting*, aanbieding*, winkel*, actie, uitverkoop, vlucht*, hotel, boeking*',
  },
  sv: {
    code: 'kod, koden, koder, pin, pinkod, losenord, dessa siffror, siffrorna nedan',
    once: 'verifieringskod*, bekraftelsekod*, sakerhetskod*, inloggningskod*, engangskod*, engangslosenord*, aktiveringskod*, autentiseringskod*, sms kod, siffriga kod, siffrig kod, tillfallig kod, kontrollkod*, registreringskod*, aterstallningskod*, betalkod*, atkomstkod*, godkannandekod*, bekraftelse kod',
    signIn: 'logga in, loggar in, inloggning*, loggade in, autentis*, tvafaktor*, tvasteg*',
    verify:
      'verifier*, bekrafta*, bekraftelse, aktivera*, validera*, registrer*, skapa ditt konto, godkann*, slutfor*',
    reset:
      'aterstall*, glomt losenord, glomt ditt losenord, nytt losenord, byta losenord, andra ditt losenord, valja ett nytt, glomt losenord*',
    expiry: 'upphor*, gar ut, giltig*, galler i, minuter',
    warn: 'dela inte, dela aldrig, ge inte, lamna inte ut, engangs*, med nagon',
    ignore:
      'om du inte, om det inte var du, inte begart, inte du, inte gjort, ignorera*, bortse, var det inte, var inte du',
    other: 'acceptera inbjudan, las upp ditt konto, las upp konto, tacka ja till inbjudan',
    drop: 'avregistrera*, avprenumerera, integritet*, villkor, hjalp, kontakta*, installningar, las mer, visa i webblasare, kundtjanst',
    not: 'bestallning*, order*, ordernummer, faktura*, sparning*, kolli*, paket*, telefon*, tel, mobil*, kundnummer*, referens*, arende*, kontonummer, kortnummer, slutar pa, postnummer, rabattkod*, kampanjkod*, rabatt*, presentkort*, bokning*, bokningskod*, bokningsnummer, flyg*, qr kod*, kallkod, felkod*, streckkod*, landskod*, organisationsnummer, org nr, moms, belopp, summa, totalt, pris*, kr, arskod, biljett*, medlems*, nummer, wifi losenord, portkod*, dorrkod*, rum',
    shop: 'rabatt*, erbjudande*, rea, kassa*, kampanj*, flyg*, hotell, bokning*',
  },
  da: {
    code: 'kode, koden, koder, pin, pinkode, adgangskode',
    once: 'bekraeftelseskode*, sikkerhedskode*, verifikationskode*, verificeringskode*, loginkode*, engangskode*, engangsadgangskode*, aktiveringskode*, godkendelseskode*, sms kode, cifrede kode, cifret kode, midlertidig kode, bekræftelseskode*, kontrolkode*, registreringskode*, adgangskode til engangsbrug, betalingskode*, gendannelseskode*, nulstillingskode*',
    signIn: 'log ind, logge ind, login, logger ind, totrins*, tofaktor*, godkend login',
    verify:
      'bekraeft*, bekræft*, verificer*, aktiver*, valider*, registrer*, tilmeld*, opret din konto, godkend*',
    reset:
      'nulstil*, glemt adgangskode, glemt din adgangskode, ny adgangskode, skifte adgangskode, aendre din adgangskode, gendan*, glemt adgangskode*',
    expiry: 'udlober*, udløber*, gyldig*, gaelder, gælder, minutter',
    warn: 'del ikke, del aldrig, giv ikke, engangs*, med nogen, beder dig aldrig om, beder aldrig om',
    ignore:
      'hvis du ikke, hvis det ikke var dig, ikke anmodet, ikke bedt, ikke dig, ignorer*, se bort fra, var det ikke',
    other: 'accepter invitation, accepter invitationen, las din konto op, lås din konto op',
    drop: 'afmeld*, privatliv*, vilkar, hjaelp, hjælp, kontakt*, indstillinger, laes mere, læs mere, kundeservice',
    not: 'ordre*, bestilling*, faktura*, sporing*, sporingsnummer, pakke*, telefon*, tlf, tel, mobil*, kundenummer*, reference*, sagsnummer, kontonummer, kortnummer, slutter pa, postnummer, rabatkode*, kampagnekode*, gavekort*, booking*, bookingkode*, reservation*, flyrejse, qr kode*, kildekode, fejlkode*, stregkode*, landekode*, cvr, moms, belob, beløb, i alt, pris*, kr, billet*, medlems*, nummer, wifi kode, dorkode*, vaerelse',
    shop: 'rabat*, tilbud*, udsalg, kurv, hotel, booking*',
  },
  no: {
    code: 'kode, koden, koder, pin, pinkode, passord',
    once: 'bekreftelseskode*, sikkerhetskode*, verifiseringskode*, innloggingskode*, paloggingskode*, påloggingskode*, engangskode*, engangspassord*, aktiveringskode*, autentiseringskode*, sms kode, sifret kode, sifrede koden, midlertidig kode, registreringskode*, betalingskode*, gjenopprettingskode*, tilgangskode*, godkjenningskode*',
    signIn:
      'logg inn, logge inn, logge pa, logg pa, logger inn, innlogging*, palogging*, pålogging*, totrinns*, tofaktor*',
    verify: 'bekreft*, verifiser*, aktiver*, valider*, registrer*, opprett kontoen, godkjenn*',
    reset:
      'tilbakestill*, glemt passord, glemt passordet, nytt passord, endre passordet, nullstill*, glemt passord*',
    expiry: 'utloper*, utløper*, gyldig*, gjelder i, minutter',
    warn: 'ikke del, del ikke, del aldri, ikke gi, engangs*, med noen',
    ignore:
      'hvis du ikke, hvis det ikke var deg, ikke bedt om, ikke deg, ignorer*, se bort fra, var det ikke',
    other: 'godta invitasjon, godta invitasjonen, las opp kontoen, lås opp kontoen',
    drop: 'meld deg av, avmeld*, personvern*, vilkar, vilkår, hjelp, kontakt*, innstillinger, les mer, kundeservice',
    not: 'ordre*, bestilling*, faktura*, sporing*, sporingsnummer, pakke*, telefon*, tlf, tel, mobil*, kundenummer*, referanse*, saksnummer, kontonummer, kortnummer, slutter pa, postnummer, rabattkode*, kampanjekode*, gavekort*, bestillingskode*, reservasjon*, flyreise, qr kode*, kildekode, feilkode*, strekkode*, landskode*, org nr, mva, belop, beløp, totalt, pris*, kr, billett*, medlems*, nummer, wifi passord, dorkode*, rom',
    shop: 'rabatt*, tilbud*, salg, handlekurv, hotell, bestilling*',
  },
  ro: {
    code: 'cod, codul, codului, coduri, pin, parola, aceste cifre, urmatoarele cifre',
    once: 'cod de verificare, codul de verificare, cod de confirmare, codul de confirmare, cod de securitate, codul de securitate, cod de autentificare, codul de autentificare, cod de activare, codul de activare, cod unic, codul unic, cod de unica folosinta, codul de unica folosinta, parola de unica folosinta, parola unica, cod sms, cod temporar, din 6 cifre, cod de acces, codul de acces, cod de autorizare, codul de autorizare, cod 3d secure, codul 3d secure, cod de inregistrare, codul de inregistrare, cod de recuperare, codul de recuperare, cod de siguranta, codul de siguranta',
    signIn: 'conect*, autentific*, intra in cont, login, logare, doi pasi, doi factori',
    verify: 'verific*, confirm*, activ*, valid*, inregistr*, crea contul, creare cont',
    reset:
      'reset*, parola uitata, ai uitat parola, parola noua, schimba parola, schimbarea parolei, recuper*',
    expiry: 'expira*, valabil*, minute',
    warn: 'nu distribui*, nu impartasi*, nu comunica*, nu dezvalui*, nimanui, unica folosinta, nu il divulga*, nu il comunica*, nu l divulga*, nu o divulga*',
    ignore:
      'daca nu ai, daca nu ati, daca nu tu, nu ai solicitat, nu ati solicitat, nu ai cerut, ignora*, ignorati, nu ai fost, nu ati fost',
    other: 'accepta invitatia, acceptati invitatia, deblocheaza contul',
    drop: 'dezabon*, confidentialitate, termeni, ajutor, contact*, preferinte, setari, afla mai multe, securizeaza',
    not: 'comanda*, comenzii, factura*, awb, urmarire, colet*, telefon*, tel, mobil, client, cod client, referinta, dosar, card*, se termina, cod postal, cod promotional, cod de reducere, cupon*, voucher*, cod de rezervare, rezervare*, zbor*, cod qr, cod sursa, cod eroare, cod de bare, cui, cif, iban, suma, total, pret*, lei, ron, bilet*, polita, contract, numar*, parola wifi, camera, interfon',
    shop: 'reducere*, oferta*, cos, zbor*, hotel, rezervare*, promotie*',
  },
  ca: {
    code: 'codi*, clau, contrasenya, pin',
    once: 'codi de verificacio, codi de confirmacio, codi de seguretat, codi d acces, codi d autenticacio, codi d activacio, codi d un sol us, codi unic, codi temporal, contrasenya d un sol us, codi de validacio, codi sms',
    signIn:
      'iniciar la sessio, inicia la sessio, inici de sessio, inicia sessio, accedir, autentic*, dos passos',
    verify: 'verific*, confirm*, activa, activar, valida, validar, registr*, crear el teu compte',
    reset: 'restabl*, restablir, nova contrasenya, canviar la contrasenya, oblidat la contrasenya, recuperar',
    expiry: 'caduca, caducara, expira*, valid per, valid fins, minuts',
    warn: 'no el comparteixis, no comparteixis, no el comparteixi, un sol us, amb ningu',
    ignore: 'si no has, si no heu, si no ho has, no has estat tu, ignora*, no has sol licitat',
    other: 'acceptar la invitacio, desbloquejar el compte',
    drop: 'donar se de baixa, privacitat, condicions, ajuda, preferencies, configuracio',
    not: 'comanda*, factura*, seguiment, enviament*, paquet*, telefon*, client*, referencia*, targeta*, codi postal, codi promocional, codi de descompte, cupo, codi de reserva, reserva*, vol, codi de barres, codi qr, import, total, preu*, euros, any, bitllet*, numero, expedient*',
    shop: 'descompte*, oferta*, cistella, cupo, vol, hotel, reserva*',
  },
}
