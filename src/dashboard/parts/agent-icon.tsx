import {
  BotIcon,
  BugIcon,
  CalendarIcon,
  ChartLineIcon,
  CodeIcon,
  DatabaseIcon,
  FileTextIcon,
  GitPullRequestIcon,
  HeadphonesIcon,
  type Icon,
  type IconProps,
  MailIcon,
  MegaphoneIcon,
  MessageSquareIcon,
  RocketIcon,
  SearchIcon,
  ShieldIcon,
  SparklesIcon,
  WrenchIcon,
  ZapIcon,
} from './icons.tsx'

const ICONS = {
  bot: BotIcon,
  sparkles: SparklesIcon,
  bug: BugIcon,
  message_square: MessageSquareIcon,
  headphones: HeadphonesIcon,
  search: SearchIcon,
  file_text: FileTextIcon,
  mail: MailIcon,
  calendar: CalendarIcon,
  chart_line: ChartLineIcon,
  code: CodeIcon,
  git_pull_request: GitPullRequestIcon,
  database: DatabaseIcon,
  shield: ShieldIcon,
  megaphone: MegaphoneIcon,
  rocket: RocketIcon,
  wrench: WrenchIcon,
  zap: ZapIcon,
} satisfies Record<string, Icon>

export type AgentIconName = keyof typeof ICONS

/** The icons that an agent can have, in the order of the API's description. */
export const AGENT_ICONS = Object.keys(ICONS) as readonly AgentIconName[]

export const AgentIcon = ({ name, ...props }: IconProps & { name: AgentIconName }) => {
  const Shape = ICONS[name]
  return <Shape {...props} />
}
