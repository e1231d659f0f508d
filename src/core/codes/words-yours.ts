/** Whose a code is: `your code`, in contrast to that of an office or a product. */
export const YOURS: readonly string[] = [
  'your, dein, deine, deinen, deiner, ihr, ihre, ihren, euer, votre, ton, vos, tu, tus, su, sus, seu, sua, teu, tua, vosso, tuo, suo, vostro, il tuo, je, jouw, uw, din, ditt, dine, deres, dit, el teu, el vostre, iyong, inyong',
  'koodisi, tunnuksesi, sinun, twoj, twoje, twoja, panstwa, vas, vase, vasi, tvuj, tvoj, tvoje, az on, on, kodod, kodja, codul, tau, dumneavoastra, jusu, tavs, teie, sinu, vasa',
  'ваш, ваша, твой, твоя, вашият, твоят, ваша, твій, σας, σου, kodunuz, kodun, sifreniz, sifren, cua ban, cua quy khach, anda, kamu, awak',
  'رمزك, كودك, بك, لك, שלך, שלכם, קודך, آپ, شما, आपका, आपके, आपकी, আপনার, ของคุณ, ของท่าน, あなた, お客様, お客さま, 您的, 你的, 您本次, 고객님, 귀하, 회원님',
]
