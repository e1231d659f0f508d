/** What has a number that follows it directly: `account 48213`. */
export const OWNERS: readonly string[] = [
  'account, a c, acct, user, device, branch, store, apartment, apt, unit, centre, center, candidate, station, platform, route, bus, train, page, chapter, article, section, group, team, batch, lot, model, game, level, episode',
  'konto, kundenkonto, benutzerkonto, benutzer, filiale, wohnung, zug, linie, seite, gruppe',
  'compte, agence, appartement, train, ligne, page, groupe',
  'cuenta, usuario, sucursal, tren, linea, pagina, conta, usuario, agencia, trem, linha',
  'account, utente, filiale, treno, linea, pagina, appartamento',
  'rekening, gebruiker, filiaal, trein, lijn, pagina, appartement, kontot, butik, tag, linje, sida, side, bruger, bruker',
  'cont, contul, utilizator, sucursala, tren, linia, fiok, vonat, oldal',
  'konto, konta, uzytkownik, oddzial, pociag, strona, ucet, uctu, uzivatel, pobocka, vlak, strana, racun, vlak',
  'аккаунт, аккаунта, пользователь, филиал, поезд, автобус, страница, кабинет, обліковий запис, користувач, потяг, сторінка, профил, влак',
  'λογαριασμο, λογαριασμος, χρηστης, καταστημα, hesap, hesabiniz, sube, tren, sayfa, tai khoan, chi nhanh, akun, pengguna, cabang, kereta, halaman, tili, tilin, juna, sivu',
]
