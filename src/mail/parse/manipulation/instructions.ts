/**
 * Words with which somebody speaks to a program that reads the mail, in place of to a person. Each line is one way to say
 * it; those of several languages stand beside each other.
 */
const WAYS: readonly (readonly [string, RegExp])[] = [
  [
    'tells a reader to ignore instructions',
    /\b(?:ignor\w{0,4}|disregard|forget|override|bypass|vergiss|missachte|ignorier\w{0,3}|oublie\w{0,2}|ignore[zr]?|ignora\w{0,2}|olvida|esquece|dimentica)\b.{0,40}\b(?:instructions?|prompts?|directives?|guidelines?|rules|context|anweisung\w{0,2}|vorgaben|regeln|consignes|directives|instrucciones|instruções|istruzioni)\b/iu,
  ],
  [
    'tells a reader to ignore instructions',
    /(?:игнорируй|забудь|не обращай внимания на).{0,40}(?:инструкци|указани|правил)/iu,
  ],
  [
    'tells a reader to ignore instructions',
    /忽略.{0,12}(?:指令|指示|提示)|(?:指示|命令|プロンプト).{0,8}無視|無視して.{0,12}指示/u,
  ],
  [
    'speaks to a model',
    /\b(?:(?:note|message|instructions?|attention|hinweis|nachricht|anweisung\w{0,2}|instrucciones|nota|consigne|attention)\s{0,3}(?:to|for|an|für|para|pour|à|per)\s{1,3}(?:the\s|all\s|any\s|die\s|den\s|alle\s|el\s|la\s|le\s|l['’])?(?:ai|a\.i\.|llms?|ki|ia|chatbots?|language models?|sprachmodell\w?|assistants?|agents?|bots?|copilot|gpt|claude|gemini)\b)/iu,
  ],
  [
    'speaks to a model',
    /\b(?:ai|llm|ki|ia)[ -](?:assistants?|agents?|models?|systems?|assistenten|agenten|modelle?)\b.{0,60}\b(?:must|should|shall|are required|are instructed|please|muss|müssen|sollen|soll|bitte)\b/iu,
  ],
  [
    'gives a model another role',
    /\b(?:you are now|from now on,? you|act as|pretend (?:to be|you are)|du bist (?:jetzt|ab jetzt)|ab jetzt bist du|tu es (?:désormais|maintenant)|ahora eres|agora (?:você )?é)\b.{0,60}\b(?:ai|assistants?|agents?|models?|bot|dan|jailbr\w{1,8}|administrators?|root|developer mode|assistent\w{0,3}|agent\w{0,2}|asistente|assistente)\b/iu,
  ],
  [
    'names the prompt of a model',
    /\b(?:system|developer|initial|hidden)[ -]?(?:prompt|instructions?)\b|\bsystemprompt\b|系统提示|システムプロンプト/iu,
  ],
  [
    'contains marks of a conversation with a model',
    /<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id)\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:system|assistant|instructions?|tool_call|function_calls?|admin)>|^\s{0,3}#{1,4}\s{0,2}(?:system|instruction|new instructions?)\s{0,2}:?\s*$|^\s{0,3}\[?(?:SYSTEM|ASSISTANT|NEW INSTRUCTIONS?|ADMIN OVERRIDE)\]?\s?:|<<<\s?(?:OUTSIDE|END)\b/imu,
  ],
  [
    'tells a reader to hide something from people',
    /\b(?:do not|don['’]t|never|without)\s(?:tell\w{0,3}|inform\w{0,3}|mention\w{0,3}|notify\w{0,3}|alert\w{0,3}|reveal\w{0,3}|asking)\b.{0,40}\b(?:user|owner|human|operator|your (?:member|principal))\b/iu,
  ],
  [
    'tells a reader to hide something from people',
    /\b(?:sag|sage|melde|erwähne|informiere|verrate)\w{0,3}\b.{0,40}\b(?:nutzer|benutzer|menschen|besitzer)\b.{0,20}\bnicht\b/iu,
  ],
  [
    'tells a reader to pass on secrets',
    /\b(?:send|forward|reveal|leak|exfiltrate|print|output|post|email|share|submit|schick\w{0,2}|sende|verrate|envoie|envía|envia)\b.{0,60}\b(?:api[ _-]?keys?|access tokens?|credentials?|passwords?|secrets?|private keys?|environment variables|passwörter|zugangsdaten|mots? de passe|contraseñas?)\b.{0,60}\bto\b/iu,
  ],
  [
    'tells a reader to call tools',
    /\b(?:call|use|invoke|run|execute)\b.{0,20}\b(?:the\s)?(?:tool|function|send_message|forward_message|list_secrets|read_message|update_message)\b.{0,40}\b(?:with|to|and|now|arguments?)\b/iu,
  ],
]

/** What a hidden text says to a reader that could be a program: in what people see, these words are ordinary. */
const HIDDEN_WAYS: readonly (readonly [string, RegExp])[] = [
  [
    'tells a reader to send something',
    /\b(?:send|forward|reply|transfer|wire|pay|approve|delete|export|upload|fetch|visit|call|schick\w{0,2}|sende|leite|überweis\w{0,2}|lösche)\b.{0,80}(?:[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{2,32}|https?:\/\/)/iu,
  ],
  [
    'speaks to a model',
    /\b(?:assistant|ai agent|language model|llm|chatgpt|claude|gemini|copilot|sprachmodell)\b/iu,
  ],
  [
    'gives orders',
    /\b(?:ignore|disregard|override|instead,? you|you must|your (?:new )?task|important instruction|as instructed|confidential(?:ly)? (?:send|forward))\b/iu,
  ],
]

const MAX_TEXT = 200_000

const found = (ways: readonly (readonly [string, RegExp])[], text: string): string[] => {
  const read = text.slice(0, MAX_TEXT).replace(/\s+/g, ' ')
  const lines = text.slice(0, MAX_TEXT)
  return [...new Set(ways.flatMap(([says, way]) => (way.test(way.multiline ? lines : read) ? [says] : [])))]
}

/** How a text speaks to a program that reads it. */
export const instructionsIn = (text: string): string[] => found(WAYS, text)
/** How a text does that people do not see. */
export const hiddenInstructionsIn = (text: string): string[] => found([...WAYS, ...HIDDEN_WAYS], text)
