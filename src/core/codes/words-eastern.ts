import type { Words } from './words.ts'

/** Uralic, Slavic, Hellenic, Turkic and Austric languages, in scripts that separate words. */
export const EASTERN: Readonly<Record<string, Words>> = {
  fi: {
    code: 'koodi*, tunnusluku*, pin koodi*, salasana',
    once: 'vahvistuskoodi*, turvakoodi*, kirjautumiskoodi*, kertakayttokoodi*, kertakayttoinen koodi, kertakayttosalasana*, kertakayttoisen koodin, aktivointikoodi*, todennuskoodi*, tarkistuskoodi*, tunnistautumiskoodi*, numeroinen koodi',
    signIn: 'kirjaudu*, kirjautu*, sisaankirjautu*, todennus*, tunnistaudu*, kaksivaihei*',
    verify: 'vahvista*, vahvistus*, vahvistami*, aktivoi*, rekister*, luodaksesi tilin',
    reset:
      'nollaa*, nollaus*, palauta salasana*, unohtunut salasana, unohditko salasanasi, uusi salasana, vaihtaa salasanasi, vaihda salasana*, salasanan vaihto*, salasanan palaut*',
    expiry: 'vanhenee, vanhenemi*, voimassa*, umpeutuu, minuut*',
    warn: 'ala jaa, ala kerro, kenellekaan, kertakaytto*',
    ignore: 'jos et, ellet, et pyytanyt, huomiotta, ohita tama, ohittaa taman, voit jattaa, etko, ettet ole',
    other: 'hyvaksy kutsu, avaa tilin lukitus, liity tiimiin',
    drop: 'peruuta tilaus, tietosuoja*, kayttoehdot, ohje*, ota yhteytta, asetukset, lue lisaa, asiakaspalvelu',
    not: 'tilaus*, tilausnumero*, lasku*, laskun, seuranta*, lahety*, paketti*, puhelin*, puh, asiakasnumero*, viite*, viitenumero, tapaus*, kortti*, postinumero*, alennuskoodi*, kampanjakoodi*, lahjakortti*, varaus*, varauskoodi*, lento*, qr koodi*, lahdekoodi*, virhekoodi*, viivakoodi*, y tunnus, alv, summa, yhteensa, hinta*, eur, vuosi, vuonna, lippu*, jasen*, numero',
    shop: 'alennus*, tarjous*, ostoskori*, lento*, hotelli*, varaus*',
  },
  pl: {
    code: 'kod, kodu, kodem, kody, pin, haslo, kod dostepu',
    once: 'kod weryfikacyjny, kodu weryfikacyjnego, kod potwierdzajacy, kod potwierdzenia, kod bezpieczenstwa, kod logowania, kod do logowania, kod jednorazowy, jednorazowy kod, jednorazowego kodu, haslo jednorazowe, jednorazowe haslo, kod aktywacyjny, kod aktywacji, kod autoryzacyjny, kod uwierzytelniajacy, kod sms, smskod, haslo sms, cyfrowy kod, kod dostepu, kod tymczasowy, kod zabezpieczajacy, kodu zabezpieczajacego, kodu bezpieczenstwa, kodu weryfikacyjny',
    signIn: 'zaloguj*, zalogow*, logowani*, logujesz, uwierzytelni*, dwuetapow*, dwuskladnikow*',
    verify: 'zweryfik*, weryfik*, potwierdz*, potwierdzeni*, aktyw*, rejestr*, zarejestr*, utworz* konto',
    reset:
      'zresetuj*, reset*, zapomniane haslo, zapomniales hasla, nowe haslo, zmien haslo, zmiana hasla, zmiane hasla, ustaw haslo, odzysk*, przywroc*, nie pamietasz hasla, zapomniane, zapomniales, nowego hasla',
    expiry: 'wygas*, wazny*, wazna, waznosci, minut*',
    warn: 'nie udostepniaj, nie podawaj, nikomu, nie przekazuj, jednorazow*',
    ignore:
      'jesli nie, jezeli nie, jesli to nie, nie prosiles, nie prosilas, to nie ty, zignoruj*, zignorowac, pomin',
    other: 'zaakceptuj zaproszenie, przyjmij zaproszenie, odblokuj konto, dolacz do zespolu',
    drop: 'wypisz*, zrezygnuj, prywatnosci, regulamin, pomoc, kontakt, skontaktuj*, ustawienia, dowiedz sie wiecej, zabezpiecz',
    not: 'zamowieni*, faktur*, sledzeni*, przesyl*, paczk*, telefon*, tel, klienta, numer klienta, nr, referenc*, sprawa, sprawy, karta, karty, konczaca sie, kod pocztowy, kod rabatowy, kod promocyjny, kupon*, rezerwacj*, kod rezerwacji, kod qr, kod kreskowy, kod zrodlowy, kod bledu, nip, regon, krs, iban, kwota, kwoty, suma, cena*, zl, pln, rok, roku, bilet*, polis*, umow*, numer*, kod produktu, kod odbioru',
    shop: 'rabat*, promocj*, koszyk*, wyprzedaz*, hotel, rezerwacj*',
  },
  cs: {
    code: 'kod, kodu, kodem, kody, pin, heslo, pristupovy kod',
    once: 'overovaci kod*, overovaciho kodu, potvrzovaci kod*, bezpecnostni kod*, prihlasovaci kod*, jednorazovy kod*, jednorazove heslo, jednorazoveho kodu, aktivacni kod*, autorizacni kod*, autentizacni kod*, sms kod*, mistny kod, ciferny kod, kontrolni kod*, kod pro overeni, kod pro prihlaseni, kod k overeni',
    signIn: 'prihlas*, prihlaseni*, prihlasit, autentiz*, dvoufaktor*, dvoufazov*',
    verify:
      'overen*, overit, overte, ověř*, potvrd*, potvrzeni*, potvrdit, aktiv*, registrac*, registrov*, vytvoreni uctu',
    reset:
      'obnov*, obnoveni hesla, resetov*, reset*, zapomenute heslo, zapomneli jste heslo, nove heslo, zmena hesla, zmenit heslo, nastavte si heslo',
    expiry: 'vyprsi, platny, platnost*, plati, minut*',
    warn: 'nesdelujte, nesdilejte, nikomu, neposkytujte, jednorazov*',
    ignore:
      'pokud jste, jestlize jste, pokud jsi, nepozadali, nezadali, nejste, ignorujte, ignoruj, nebyli jste, nebyl jste, neslo o vas',
    other: 'prijmout pozvanku, odemknout ucet, pripojit se k tymu',
    drop: 'odhlasit odber, odhlaste, soukromi, podminky, napoveda, kontaktujte, nastaveni, vice informaci, zabezpecte',
    not: 'objednav*, faktur*, sledovani, zasilk*, balik*, telefon*, tel, mobil, zakaznick*, cislo zakaznika, reference*, pripad, karty, karta, koncici, psc, slevovy kod, slevovy*, promo kod, kupon*, poukaz*, rezervac*, kod rezervace, qr kod*, carovy kod, zdrojovy kod*, chybovy kod, kod chyby, ico, dic, iban, castka, celkem, cena*, kc, czk, rok, roku, jizdenk*, vstupenk*, pojistk*, smlouv*, cislo, variabilni symbol',
    shop: 'slev*, akce, kosik*, vyprodej, letenk*, hotel, rezervac*',
  },
  sk: {
    code: 'kod, kodu, kodom, pin, heslo',
    once: 'overovaci kod*, overovacieho kodu, potvrdzovaci kod*, bezpecnostny kod*, prihlasovaci kod*, jednorazovy kod*, jednorazove heslo, aktivacny kod*, autorizacny kod*, sms kod*, kod na overenie, kod na prihlasenie',
    signIn: 'prihlas*, prihlasenie, prihlasenia, dvojfaktor*',
    verify: 'overenie, overenia, overte, overit, potvrd*, potvrdenie, aktiv*, registrac*',
    reset:
      'obnov*, obnovenie hesla, resetov*, zabudnute heslo, zabudli ste heslo, nove heslo, zmena hesla, zmenit heslo',
    expiry: 'vyprsi, platny, platnost*, plati, minut*',
    warn: 'nezdielajte, nikomu, neposkytujte, jednorazov*',
    ignore: 'ak ste, ak si, nepoziadali, neziadali, ignorujte, ignoruj',
    other: 'prijat pozvanku, odomknut ucet',
    drop: 'odhlasit odber, sukromi*, podmienky, pomoc, kontaktujte, nastavenia',
    not: 'objednav*, faktur*, zasielk*, balik*, telefon*, zakaznick*, karta, karty, psc, zlavovy kod, zlavovy*, kupon*, rezervac*, qr kod*, ciarovy kod, zdrojovy kod*, kod chyby, ico, dic, suma, spolu, cena*, eur, rok, roku, zmluv*, cislo',
    shop: 'zlav*, akcia, kosik*, hotel, rezervac*',
  },
  hu: {
    code: 'kod, kodot, kodja, kodod, kodjat, koddal, pin kod, jelszo, jelszavad',
    once: 'ellenorzo kod*, megerosito kod*, biztonsagi kod*, bejelentkezesi kod*, belepesi kod*, egyszeri kod*, egyszer hasznalatos kod*, egyszer hasznalatos jelszo*, egyszerhasznalatos*, egyszeri jelszo*, aktivalo kod*, aktivacios kod*, hitelesito kod*, azonosito kod*, sms kod*, jegyu kod*',
    signIn: 'bejelentkez*, belepes*, belepj, hitelesit*, azonositas*, ketlepcsos*, ketfaktor*',
    verify: 'megerosit*, ellenorz*, igazol*, aktival*, regisztr*, fiok letrehoz*, erosits*, erositse*',
    reset:
      'visszaallit*, jelszo visszaallit*, elfelejtett jelszo, elfelejtetted, uj jelszo, jelszo modosit*, jelszo csere, alaphelyzet*, elfelejt*, uj jelszot',
    expiry: 'lejar*, ervenyes*, perc*',
    warn: 'ne oszd meg, ne ossza meg, ne add meg, senkivel, senkinek, egyszeri',
    ignore:
      'ha nem, nem te, nem on, nem kerte*, figyelmen kivul, hagyd figyelmen, hagyja figyelmen, nem on volt, nem te voltal',
    other: 'meghivo elfogadasa, meghivas elfogadasa, fiok feloldasa',
    drop: 'leiratkoz*, adatvedel*, feltetelek, sugo, kapcsolat, ugyfelszolgalat, beallitasok, tovabbi informacio',
    not: 'rendeles*, megrendeles*, szamla*, szamlaszam, nyomkovet*, csomag*, csomagszam, telefon*, tel, mobil, ugyfel*, ugyfelszam, hivatkozasi szam, ugyszam, kartya*, iranyitoszam*, kuponkod*, kupon*, kedvezmenykod*, promocios kod*, foglalas*, foglalasi kod*, jarat*, qr kod*, forraskod*, hibakod*, vonalkod*, adoszam*, osszeg*, osszesen, ft, huf, jegy, kotveny*, szerzodes*',
    shop: 'kedvezmeny*, akcio*, kosar*, jarat*, szalloda, foglalas*',
  },
  hr: {
    code: 'kod, koda, kodom, pin, lozinka, sifra',
    once: 'verifikacijski kod*, verifikacioni kod*, kod za potvrdu, potvrdni kod*, sigurnosni kod*, bezbednosni kod*, kod za prijavu, jednokratni kod*, jednokratna lozinka, jednokratnu lozinku, aktivacijski kod*, aktivacioni kod*, kod za provjeru, kod za proveru, kod za verifikaciju, autentikacijski kod*, potvrditvena koda, enkratno geslo, enkratna koda',
    signIn: 'prijav*, prijavite, autentik*, dvofaktor*',
    verify: 'potvrd*, potvrdite, verifik*, provjer*, proverit*, aktivir*, registr*, potrdit*',
    reset:
      'resetir*, resetov*, ponovno postav*, zaboravljena lozinka, zaboravili ste lozinku, nova lozinka, promjena lozinke, promenite lozinku, ponastav*',
    expiry: 'istice, istjece, vrijedi, vazi, minut*',
    warn: 'nemojte dijeliti, ne dijelite, ne delite, nikome, jednokratn*',
    ignore: 'ako niste, ako to niste, ako nisi, niste vi, zanemar*, ignorir*, ce niste',
    other: 'prihvati poziv, prihvatite poziv, otkljucaj racun',
    drop: 'odjav*, privatnost*, uvjeti, uslovi, pomoc, kontakt*, postavke, podesavanja',
    not: 'narudzb*, narudzbin*, racun*, posiljk*, paket*, telefon*, tel, kupac, kupca, referenc*, kartic*, postanski broj, kupon*, promo kod, kod za popust, popust*, rezervac*, qr kod*, izvorni kod, kod greske, oib, pib, iznos, ukupno, cijena*, cena, eur, rsd, godin*, ulaznic*, broj*',
    shop: 'popust*, akcij*, kosaric*, hotel, rezervac*',
  },
  bg: {
    code: 'код, кода, кодът, пин, парола',
    once: 'код за потвърждение, кодът за потвърждение, код за потвържд*, код за верификация, код за проверка, код за сигурност, код за вход, еднократен код, еднократна парола, еднократния код, код за активиране, код за достъп, цифрен код',
    signIn: 'вход, влезте, влизане, влез, удостовер*',
    verify: 'потвърд*, потвържд*, провер*, верифиц*, активир*, регистр*, активира*',
    reset:
      'нулира*, нулиране*, възстанов*, забравена парола, нова парола, смяна на парола*, промяна на парола*',
    expiry: 'изтича, валиден, валидна, минут*',
    warn: 'не споделяй*, никого, еднократ*',
    ignore: 'ако не сте, ако не си, ако това не, не сте вие, игнорир*, пренебрег*',
    other: 'приемете поканата, приемане на поканата, отключ*',
    drop: 'отпиш*, отпишете, поверителност*, условия, помощ, контакт*, настройки, научете повече',
    not: 'поръчк*, фактур*, проследяв*, пратк*, колет*, телефон*, тел, клиент*, референ*, карта, картата, завършваща, пощенски код, промо код, код за отстъпка, купон*, ваучер*, резервац*, полет*, qr код, баркод*, изходен код, код за грешка, еик, ддс, сума, общо, цена*, лв, година, билет*, полиц*, договор*, номер*',
    shop: 'отстъпк*, оферт*, количка*, промоц*, полет*, хотел, резервац*',
  },
  ru: {
    code: 'код, кода, кодом, коду, коды, пин, пин код, пароль, код доступа',
    once: 'код подтверждения, кода подтверждения, код верификации, код безопасности, код для входа, код входа, код авторизации, код проверки, проверочный код, проверочного кода, одноразовый код, одноразового кода, одноразовый пароль, код активации, код аутентификации, смс код, код из смс, sms код, значный код, защитный код, временный код, временный пароль, код для подтверждения, код для регистрации, код регистрации, код восстановления',
    signIn: 'вход, входа, войти, войдите, вхожу, авториз*, залогин*, аутентификац*, двухфактор*, двухэтап*',
    verify:
      'подтверд*, подтвержд*, верифи*, проверк*, активир*, активац*, регистрац*, зарегистр*, создание аккаунта, активиру*',
    reset:
      'сброс*, сброса пароля, сбросить, восстанов*, забыли пароль, новый пароль, смена пароля, смены пароля, сменить пароль, изменить пароль, изменение пароля',
    expiry: 'истека*, действител*, действует, срок действия, минут*',
    warn: 'никому, не сообщай*, не передавай*, не говорите, не делитесь, одноразов*',
    ignore:
      'если вы не, если это были не вы, если не вы, если это не вы, не запрашивали, вы не делали, проигнорируй*, игнорируй*, если ты не, это были не вы, это не вы',
    other: 'принять приглашение, разблокировать аккаунт, разблокировать учетную запись',
    drop: 'отписа*, отпишитесь, конфиденциальност*, услови*, помощь, поддержк*, свяжитесь, настройк*, подробнее, открыть в браузере',
    not: 'заказ*, счет*, трек*, трек номер, отслежив*, посылк*, отправлени*, телефон*, тел, номер телефона, клиент*, обращени*, заявк*, карта, карты, карте, картой, индекс*, почтовый индекс, промокод*, промо код, код скидки, купон*, сертификат*, бронирован*, код бронирования, брони, рейс*, qr код*, штрихкод*, штрих код*, исходный код*, исходного кода, код ошибки, код товара, код страны, код города, инн, огрн, кпп, бик, сумма, суммы, итого, цена*, стоимост*, руб, рублей, год, года, году, билет*, полис*, договор*, номер*, артикул*, код получения, код выдачи',
    shop: 'скидк*, акци*, корзин*, распродаж*, рейс*, отел*, бронирован*',
  },
  uk: {
    code: 'код, коду, кодом, пін, пароль, код доступу',
    once: 'код підтвердження, коду підтвердження, код верифікації, код безпеки, код для входу, код входу, код перевірки, код авторизації, одноразовий код, одноразового коду, одноразовий пароль, код активації, код автентифікації, перевірочний код, значний код, смс код, захисний код, код для підтвердження, код відновлення, код реєстрації',
    signIn: 'вхід, входу, увійти, увійдіть, ввійти, авториз*, автентифік*, двофактор*',
    verify:
      'підтвер*, підтвердж*, верифік*, перевір*, активув*, активац*, реєстрац*, зареєстр*, активу*, активация',
    reset: 'скид*, скинут*, відновл*, забули пароль, новий пароль, зміна пароля, змінити пароль',
    expiry: 'діє, дійсн*, термін дії, закінч*, спливає, хвилин*',
    warn: 'нікому, не повідомляй*, не передавай*, не діліться, одноразов*',
    ignore:
      'якщо ви не, якщо це були не ви, якщо це не ви, не запитували, проігнор*, ігнор*, якщо ти не, це були не ви, це не ви',
    other: 'прийняти запрошення, розблокувати',
    drop: 'відписа*, відпишіться, конфіденційн*, умови, допомог*, підтримк*, налаштув*, докладніше',
    not: 'замовлен*, рахун*, відстеж*, посилк*, відправлен*, ттн, телефон*, тел, клієнт*, звернен*, картка, картки, картці, індекс*, поштовий індекс, промокод*, купон*, сертифікат*, бронюв*, рейс*, qr код*, штрихкод*, вихідний код, код помилки, код товару, єдрпоу, сума, суми, разом, ціна*, грн, рік, року, квит*, поліс*, договір*, договор*, номер*, код отримання',
    shop: 'знижк*, акці*, кошик*, розпродаж*, рейс*, готел*, бронюв*',
  },
  el: {
    code: 'κωδικος, κωδικο, κωδικου, pin',
    once: 'κωδικος επαληθευσης, κωδικο επαληθευσης, κωδικος επιβεβαιωσης, κωδικο επιβεβαιωσης, κωδικος ασφαλειας, κωδικο ασφαλειας, κωδικος συνδεσης, κωδικο συνδεσης, κωδικος μιας χρησης, κωδικο μιας χρησης, κωδικος εισοδου, κωδικος ενεργοποιησης, κωδικο ενεργοποιησης, κωδικος ταυτοποιησης, κωδικος πιστοποιησης, ψηφιο κωδικο, προσωρινος κωδικος',
    signIn: 'συνδεθ*, συνδεση, συνδεσης, εισοδο*, ταυτοποι*, εισελθ*',
    verify: 'επαληθευ*, επιβεβαι*, ενεργοποι*, εγγραφη*, επικυρω*',
    reset:
      'επαναφορα*, ξεχασατε, νεο κωδικο προσβασης, αλλαγη κωδικου*, αλλαξετε τον κωδικο, αλλαξετε τα διαπιστευτηρια, ανακτηση*, νεου κωδικου, νεο κωδικο',
    expiry: 'ληγει, ληξει, ισχυει, λεπτα',
    warn: 'μην τον κοινοποι*, μην κοινοποι*, μην μοιρα*, μη μοιρα*, κανεναν, μιας χρησης',
    ignore: 'αν δεν, εαν δεν, δεν ζητησατε, δεν ειστε εσεις, αγνοηστε, δεν ησασταν εσεις',
    other: 'αποδοχη προσκλησης, ξεκλειδωμα λογαριασμου',
    drop: 'διαγραφη απο, απεγγραφη, απορρητ*, οροι, βοηθεια, επικοινων*, ρυθμισεις, μαθετε περισσοτερα',
    not: 'παραγγελια*, τιμολογι*, αποστολη*, δεμα*, δεματος, τηλεφων*, τηλ, πελατη*, αναφορας, υποθεση*, καρτα*, ταχυδρομικος κωδικος, τκ, εκπτωτικος κωδικος, κωδικος εκπτωσης, κουπονι*, κρατηση*, κωδικος κρατησης, πτηση*, κωδικος qr, πηγαιος κωδικας, κωδικος σφαλματος, κωδικος προιοντος, αφμ, ποσο, συνολο, τιμη*, ευρω, ετος, εισιτηρι*, συμβολαι*, αριθμος*',
    shop: 'εκπτωσ*, προσφορ*, καλαθι*, πτηση*, ξενοδοχ*, κρατηση*',
  },
  tr: {
    code: 'kod, kodu, kodun, kodunuz, kodunu, kodunuzu, kodum, pin, sifre*, parola*, sifreniz',
    once: 'dogrulama kod*, onay kod*, guvenlik kod*, giris kod*, tek kullanimlik kod*, tek kullanimlik sifre*, tek kullanimlik parola*, tek seferlik kod*, tek seferlik sifre*, aktivasyon kod*, kimlik dogrulama kod*, sms kod*, sms sifre*, haneli kod*, gecici sifre*, gecici kod*, onaylama kod*, 3d secure, dogrulama sifre*, uyelik kod*',
    signIn: 'giris yap*, giris icin, giris, oturum ac*, oturumu, kimlik dogrulama, iki adimli, iki faktor*',
    verify:
      'dogrula*, dogrulama, onayla*, onay, etkinlestir*, aktif et*, aktivasyon, kayit, kaydol*, uyelik*',
    reset:
      'sifirla*, sifirlama, sifrenizi mi unuttunuz, sifremi unuttum, yeni sifre, sifre degistir*, sifrenizi degistir*, parola sifirla*, yenileme, kurtar*',
    expiry: 'gecerli*, gecerlilik*, sona er*, suresi dol*, dakika*',
    warn: 'paylasma*, kimseyle, kimse ile, vermeyin*, tek kullanimlik',
    ignore:
      'eger siz, siz degilseniz, talep etmediyseniz, yapmadiysaniz, bu islemi siz, istemediyseniz, sen degilsen, dikkate alma*, yok say*, gormezden gel*, siz degil*, sen degil*',
    other: 'daveti kabul et, hesabin kilidini ac',
    drop: 'abonelikten, gizlilik*, kosullar, yardim*, destek, iletisim*, ayarlar, daha fazla bilgi',
    not: 'siparis*, fatura*, takip, takip no, takip numarasi, kargo*, gonderi*, paket*, telefon*, tel, cep, musteri*, referans*, talep no, kart, kartiniz, kartinizla, ile biten, posta kodu, indirim kod*, kupon*, promosyon kod*, kampanya kod*, hediye*, rezervasyon*, rezervasyon kod*, pnr, ucus*, qr kod*, karekod*, barkod*, kaynak kod*, hata kod*, alan kodu, ulke kodu, urun kodu, vergi*, tc kimlik, mersis, iban, tutar*, toplam, fiyat*, tl, yil, yili, bilet*, police*, sozlesme*, numara*, teslimat kodu',
    shop: 'indirim*, kampanya*, sepet*, firsat*, ucus*, otel*, rezervasyon*',
  },
  vi: {
    code: 'mã, ma otp, mã otp, ma code, mã code, ma cua ban, mã cua ban, ma sau, mã sau, nhap ma, nhap mã, ma duoi day, mã duoi day, ma pin, mã pin, ma gom, mã gom, ma bao gom, mã bao gom, mat khau, su dung ma, su dung mã, ma nay, mã nay',
    once: 'ma xac minh, mã xac minh, ma xac nhan, mã xac nhan, ma xac thuc, mã xac thuc, ma bao mat, mã bao mat, ma dang nhap, mã dang nhap, ma kich hoat, mã kich hoat, ma dung mot lan, mã dung mot lan, ma mot lan, mã mot lan, mat khau mot lan, mat khau dung mot lan, ma kiem tra, mã kiem tra, ma dang ky, mã dang ky, ma khoi phuc, mã khoi phuc, mat khau tam thoi',
    signIn: 'dang nhap, xac thuc*, hai yeu to, hai buoc',
    verify: 'xac minh, xac nhan, kich hoat, dang ky, tao tai khoan',
    reset:
      'dat lai mat khau, dat lai, quen mat khau, mat khau moi, doi mat khau, thay doi mat khau, khoi phuc',
    expiry: 'het han, het hieu luc, co hieu luc, hieu luc, phut',
    warn: 'khong chia se, khong cung cap, tuyet doi khong, bat ky ai, mot lan',
    ignore:
      'neu ban khong, neu khong phai ban, khong yeu cau, khong phai ban, bo qua, vui long bo qua, neu quy khach khong',
    other: 'chap nhan loi moi, mo khoa tai khoan',
    drop: 'huy dang ky, quyen rieng tu, dieu khoan, tro giup, lien he, cai dat, tim hieu them',
    not: 'don hang, ma don hang, mã don hang, hoa don, van don, ma van don, mã van don, theo doi, kien hang, dien thoai, so dien thoai, sdt, hotline, khach hang, ma khach hang, mã khach hang, tham chieu, so the, ma buu dien, mã buu dien, ma giam gia, mã giam gia, ma khuyen mai, mã khuyen mai, phieu giam gia, voucher*, dat cho, ma dat cho, mã dat cho, chuyen bay, ma qr, mã qr, ma vach, mã vach, ma nguon, mã nguon, ma loi, mã loi, ma san pham, mã san pham, ma so thue, mã so thue, so tien, tong, vnd, dong, hop dong',
    shop: 'giam gia, khuyen mai, uu dai, gio hang, chuyen bay, khach san, dat cho',
  },
  id: {
    code: 'kode, kod, pin, kata sandi, sandi, kata laluan',
    once: 'kode verifikasi, kode konfirmasi, kode keamanan, kode masuk, kode login, kode sekali pakai, kode otp, kode aktivasi, kode autentikasi, kode otentikasi, kata sandi sekali pakai, sandi sekali pakai, kode akses, kode rahasia, kod pengesahan, kod keselamatan, kod log masuk, kod sekali guna, kod pengaktifan, kata laluan sekali guna, digit kode, kode pemulihan, kode pendaftaran',
    signIn: 'masuk ke, masuk, login, log masuk, autentikasi, otentikasi, dua langkah, dua faktor',
    verify:
      'verifikasi*, memverifikasi, konfirmasi*, mengonfirmasi, aktivasi, aktifkan, mengaktifkan, mendaftar, pendaftaran, sahkan, pengesahan, mengesahkan',
    reset:
      'atur ulang, mengatur ulang, setel ulang, menyetel ulang, reset*, lupa kata sandi, lupa password, kata sandi baru, ubah kata sandi, mengubah kata sandi, pulihkan, pemulihan, tetapkan semula, menetapkan semula',
    expiry: 'kedaluwarsa, kadaluarsa, kadaluwarsa, berlaku, tamat tempoh, sah selama, luput, menit, minit',
    warn: 'jangan bagikan, jangan berikan, jangan beritahu, jangan kongsi*, kepada siapa pun, kepada siapapun, rahasia, sekali pakai, sesiapa',
    ignore:
      'jika anda tidak, jika bukan anda, apabila anda tidak, tidak meminta, bukan anda, abaikan, jika kamu tidak',
    other: 'terima undangan, buka kunci akun, terima jemputan',
    drop: 'berhenti berlangganan, privasi, ketentuan, syarat, bantuan, hubungi*, pengaturan, selengkapnya, tetapan',
    not: 'pesanan*, faktur*, invoice*, resi, nomor resi, lacak, pelacakan, paket*, telepon*, telp, hp, pelanggan*, referensi*, tiket*, kartu*, berakhiran, kode pos, poskod, kode promo*, kode diskon, kupon*, voucher*, pemesanan*, kode booking, kode pemesanan, penerbangan*, kode qr, kode batang, kode sumber, kode error, kode produk, npwp, jumlah, total, harga*, rp, idr, tahun, nomor*, nombor, kontrak, polis',
    shop: 'diskon*, promo*, keranjang*, penawaran*, penerbangan*, hotel*, pemesanan*',
  },
}
