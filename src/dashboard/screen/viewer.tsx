import { createContext, type ReactNode, useContext } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { type Shown, useLive } from '../live/use.ts'

const FRAME = graphql(`
  query Frame {
    viewer {
      id email name role
      may {
        createAgents createTokens inviteMembers inviteOwners manageDomains managePhoneNumbers removeMembers
        setAccess updateWorkspace
      }
      workspace { id name questions { id } }
      views { name path }
    }
    agents { id name icon unreadCount heldCount }
  }
`)

type FrameData = ResultOf<typeof FRAME>
export type Viewer = FrameData['viewer']
export type AgentRef = FrameData['agents'][number]

const Context = createContext<FrameData | null>(null)

/** What the frame shows: who is signed in, and the agents. */
export const useFrame = (): Shown<FrameData> =>
  useLive(FRAME, {}, ['agents', 'members', 'messages', 'questions', 'workspace'])

export const FrameProvider = ({ data, children }: { data: FrameData; children: ReactNode }) => (
  <Context value={data}>{children}</Context>
)

const useFrameData = (): FrameData => {
  const data = useContext(Context)
  if (!data) throw new Error('used outside the frame')
  return data
}

/** The member who is signed in, and what they may do. */
export const useViewer = (): Viewer => useFrameData().viewer

/** All agents, with the numbers of their messages that are unread, and that wait for approval. */
export const useAgents = (): readonly AgentRef[] => useFrameData().agents

/** The names of all agents by their ids, to choose one; `none` is the choice of no agent. */
export const useAgentNames = (none?: string): Readonly<Record<string, string>> => ({
  ...(none === undefined ? {} : { '': none }),
  ...Object.fromEntries(useAgents().map(({ id, name }) => [id, name])),
})

/** How many questions of agents wait for an answer of the member. */
const useQuestionCount = (): number => useViewer().workspace.questions.length

/** How many messages and questions wait for the member. */
export const useWaitingCount = (): number =>
  useAgents().reduce((sum, { heldCount }) => sum + heldCount, useQuestionCount())
