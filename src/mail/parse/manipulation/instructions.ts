/** A way to speak to a program that reads the mail, in place of to a person. */
interface Way {
  /** What it does, in words. */
  says: string
  /** Without one of these words, of two or more characters in lower case, it is not looked for. */
  words: readonly string[]
  pattern: RegExp
}

const IGNORES = 'tells a reader to ignore instructions'
const SPEAKS = 'speaks to a model'
const HIDES = 'tells a reader to hide something from people'

/** Those that no mail to a person contains, in several languages. */
const WAYS: readonly Way[] = [
  {
    says: IGNORES,
    words: [
      'ignor',
      'disregard',
      'forget',
      'override',
      'bypass',
      'vergiss',
      'missacht',
      'oublie',
      'olvida',
      'esque',
      'dimentica',
    ],
    pattern:
      /\b(?:ignor\w{0,6}|disregard|forget|override|bypass|vergiss|missachte|oublie\w{0,2}|olvida|esqueça|dimentica)\b.{0,20}\b(?:all|any|every|previous|prior|above|earlier|preceding|your|alle|bisherigen|vorherigen|obigen|toutes|précédentes|todas|anteriores|tutte|precedenti)\b.{0,30}\b(?:instructions?|prompts?|directives?|guidelines?|rules|anweisung\w{0,2}|vorgaben|regeln|consignes|instrucciones|instruções|istruzioni)\b/iu,
  },
  {
    says: IGNORES,
    words: ['oubli', 'olvid', 'esque', 'dimentica', 'ignor', 'negeer', 'zignoruj', 'abaikan', 'bỏ qua'],
    pattern:
      /(?<!\p{L})(?:oubli\w{0,3}|olvid\w{0,2}|esqueça\w{0,2}|dimentica\w{0,2}|ignor\w{0,3}|negeer|zignoruj|abaikan|bỏ qua).{0,30}(?:consignes|instructions|instrucciones|instruções|istruzioni|instructies|aanwijzingen|instrukcje|polecenia|instruksi|hướng dẫn).{0,20}(?:précédentes|anteriores|previas|precedenti|sebelumnya|trước)|(?<!\p{L})(?:negeer|zignoruj).{0,30}(?:vorige|eerdere|poprzednie|wcześniejsze).{0,20}(?:instructies|aanwijzingen|instrukcje|polecenia)/iu,
  },
  {
    says: IGNORES,
    words: ['talimat', '지시', '지침', 'التعليمات', 'הוראות', 'निर्देश'],
    pattern:
      /önceki.{0,20}talimat.{0,20}(?:yok say|görmezden|unut)|(?:이전|위).{0,12}(?:지시|지침|명령).{0,12}(?:무시|잊)|(?:تجاهل|انس).{0,20}التعليمات|(?:התעלם|התעלמו|שכח).{0,12}הוראות|ההוראות הקודמות|निर्देशों.{0,12}(?:अनदेखा|नज़रअंदाज़|भूल)/iu,
  },
  {
    says: IGNORES,
    words: ['игнорир', 'забудь', 'не обращай', 'ігнору'],
    pattern:
      /(?:игнорируй|ігноруй|забудь|не обращай внимания на).{0,40}(?:инструкци|указани|правил|інструкці|вказівк)/iu,
  },
  {
    says: IGNORES,
    words: ['忽略', '無視', '无视'],
    pattern: /(?:忽略|无视).{0,12}(?:指令|指示|提示)|(?:指示|命令|プロンプト).{0,8}無視|無視して.{0,12}指示/u,
  },
  {
    says: SPEAKS,
    words: [
      ' ai',
      'llm',
      'chatbot',
      'language model',
      'sprachmodell',
      'copilot',
      'gpt',
      'claude',
      'gemini',
      ' ki',
      ' ia',
    ],
    pattern:
      /\b(?:attention,? (?:all )?(?:ai|llm)s? (?:agents?|assistants?|models?)|(?:note|message|instructions?|attention|hinweis|nachricht|anweisung|anweisungen|instrucciones|nota|consigne)\s{0,3}(?:to|for|an|für|para|pour|à|per)\s{1,3}(?:the\s|all\s|any\s|die\s|den\s|alle\s|el\s|la\s|le\s|l['’])?(?:ai|llms?|ki|ia|chatbots?|(?:large )?language models?|sprachmodelle?|copilot|chatgpt|gpt|claude|gemini))\b/iu,
  },
  {
    says: SPEAKS,
    words: [' ai', '\nai', 'llm', 'language model'],
    pattern:
      /\b(?:if you are an? (?:ai|llm|(?:large )?language model)\b|as an ai (?:assistant|agent|model),? you\b|(?:ais?|llms?|language models?)(?: (?:assistants?|agents?|models?))? (?:reading|processing|parsing|summari[sz]ing|that reads?|who reads?) (?:this|the) (?:e-?mail|message|text|page))/iu,
  },
  {
    says: 'gives a model another role',
    words: ['you are now', 'from now on', 'act as', 'du bist', 'tu es', 'ahora eres'],
    pattern:
      /\b(?:you are now|from now on,? you are|act as|du bist (?:jetzt|ab jetzt)|tu es désormais|ahora eres)\b.{0,30}\b(?:ai|dan|unrestricted|uncensored|jailbroken|developer mode|language model|chatbot|ki-assistent|sprachmodell)\b/iu,
  },
  {
    says: 'names the prompt of a model',
    words: ['prompt', '系统提示', 'システムプロンプト'],
    pattern: /\b(?:system|developer|hidden|initial)[ -]?prompt\b|系统提示|システムプロンプト/iu,
  },
  {
    says: 'contains marks of a conversation with a model',
    words: [
      '<|',
      '[inst]',
      '[/inst]',
      '<<sys>>',
      '<tool_call',
      '<function_call',
      '###',
      'new instructions',
      'override',
      '<<<outside',
      '<<<end',
    ],
    pattern:
      /<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id)\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:tool_call|function_calls?)>|### ?(?:System|Instruction|New instructions?) ?:|\bNEW INSTRUCTIONS?:|\b(?:ADMIN|SYSTEM) OVERRIDE\b|<<<(?:OUTSIDE|END)\b/u,
  },
  {
    says: 'tells a reader to call tools',
    words: ['_message', 'list_secrets', 'get_attachment'],
    pattern:
      /\b(?:call|use|invoke|run|execute)\b.{0,30}\b(?:send_message|forward_message|list_secrets|read_message|update_message|get_attachment)\b/iu,
  },
]

/** The @ of an address with what its domain begins with, and the beginning of a link. */
const ADDRESS = ['http', ...Array.from('abcdefghijklmnopqrstuvwxyz0123456789-', (first) => `@${first}`)]

/** Those that are ordinary in what people see, and not in what they do not. */
const HIDDEN_WAYS: readonly Way[] = [
  {
    says: HIDES,
    words: ['tell', 'inform', 'mention', 'notify', 'alert', 'reveal', 'asking'],
    pattern:
      /\b(?:do not|don['’]t|never|without)\s(?:tell\w{0,3}|inform\w{0,3}|mention\w{0,3}|notify\w{0,3}|alert\w{0,3}|reveal\w{0,3}|asking)\b.{0,40}\b(?:user|owner|human|operator)\b/iu,
  },
  {
    says: 'tells a reader to send something',
    words: ADDRESS,
    pattern:
      /\b(?:send|forward|reply|transfer|wire|pay|approve|delete|export|upload|fetch|call|schick\w{0,2}|sende|leite|überweis\w{0,2}|lösche)\b.{0,80}(?:[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{2,32}|https?:\/\/)/iu,
  },
  {
    says: 'asks for secrets',
    words: ['key', 'token', 'credential', 'password', 'secret', 'passw', 'zugangsdaten', 'contrase'],
    pattern:
      /\b(?:api[ _-]?keys?|access tokens?|credentials?|passwords?|secrets?|private keys?|environment variables|passwörter|zugangsdaten|mots? de passe|contraseñas?)\b/iu,
  },
  {
    says: SPEAKS,
    words: ['assistant', 'agent', 'model', 'llm', 'chatgpt', 'claude', 'gemini', 'copilot'],
    pattern: /\b(?:assistant|ai agents?|language model|llm|chatgpt|claude|gemini|copilot|sprachmodell)\b/iu,
  },
  {
    says: 'gives orders',
    words: ['ignor', 'disregard', 'override', 'instead', 'must', 'task', 'instruct'],
    pattern:
      /\b(?:ignore|disregard|override|instead,? you|you must|your (?:new )?task|important instruction|as instructed)\b/iu,
  },
]

const MAX_TEXT = 200_000

/** Of two characters, a number below `HASHES`. */
const HASHES = 1 << 13
const hashOf = (first: number, second: number): number => (first * 37 + second) & (HASHES - 1)

interface Beginning {
  word: string
  way: Way
}

/** Finds the ways of which a text in lower case has a word, in one pass over it. */
const finderOf = (ways: readonly Way[]): ((lower: string) => Set<Way>) => {
  const byHash: (Beginning[] | undefined)[] = Array.from({ length: HASHES })
  for (const way of ways)
    for (const word of way.words) {
      const hash = hashOf(word.charCodeAt(0), word.charCodeAt(1))
      byHash[hash] = [...(byHash[hash] ?? []), { word, way }]
    }
  return (lower) => {
    const found = new Set<Way>()
    for (let at = 1, before = lower.charCodeAt(0); at < lower.length; at++) {
      const code = lower.charCodeAt(at)
      const beginnings = byHash[hashOf(before, code)]
      before = code
      if (beginnings === undefined) continue
      for (const { word, way } of beginnings) if (lower.startsWith(word, at - 1)) found.add(way)
    }
    return found
  }
}

/** Letters of Cyrillic and Greek that look like those of Latin. */
const LOOK_ALIKES = new Map(
  [
    'аa',
    'еe',
    'оo',
    'сc',
    'рp',
    'хx',
    'уy',
    'іi',
    'ѕs',
    'јj',
    'οo',
    'αa',
    'νv',
    'АA',
    'ЕE',
    'ОO',
    'СC',
    'РP',
    'ІI',
  ].map((pair) => [pair[0]!, pair[1]!] as const),
)
const MIXED = /[a-z][аеосрхуіѕјοαν]|[аеосрхуіѕјοαν][a-z]/i

/** A text in the letters that it seems to be written in. */
const plainly = (text: string): string => {
  if (/^[\0-\x7f]*$/.test(text)) return text
  const plain = text.normalize('NFKC')
  return MIXED.test(plain)
    ? plain.replace(/[\u0370-\u045f]/g, (letter) => LOOK_ALIKES.get(letter) ?? letter)
    : plain
}

const waysIn = (ways: readonly Way[]): ((text: string) => string[]) => {
  const mayBe = finderOf(ways)
  return (text) => {
    const read = plainly(text.slice(0, MAX_TEXT))
    const candidates = mayBe(` ${read.toLowerCase()}`)
    if (candidates.size === 0) return []
    const line = read.replace(/\s+/g, ' ')
    return [...new Set([...candidates].flatMap(({ says, pattern }) => (pattern.test(line) ? [says] : [])))]
  }
}

/** How a text speaks to a program that reads it. */
export const instructionsIn: (text: string) => string[] = waysIn(WAYS)
/** How a text does that people do not see. */
export const hiddenInstructionsIn: (text: string) => string[] = waysIn([...WAYS, ...HIDDEN_WAYS])
