import { Suspense } from 'react'
import { Provider } from 'urql'
import { Redirect, Route, Router, Switch } from 'wouter'
import { client } from '../live/client.ts'
import { Load, Loading } from '../parts/states.tsx'
import { Missing } from '../screen/missing.tsx'
import { FrameProvider, useFrame } from '../screen/viewer.tsx'
import { Boundary } from './boundary.tsx'
import { Frame } from './frame.tsx'
import { ROUTES } from './routes.tsx'

const Screens = () => (
  <Boundary>
    <Suspense fallback={<Loading lines={6} />}>
      <Switch>
        <Route path="/">
          <Redirect to="/home" replace />
        </Route>
        {ROUTES.map(({ path, Screen }) => (
          <Route key={path} path={path}>
            <Screen />
          </Route>
        ))}
        <Route>
          <Missing />
        </Route>
      </Switch>
    </Suspense>
  </Boundary>
)

const Framed = () => (
  <Load from={useFrame()} lines={6}>
    {(data) => (
      <FrameProvider data={data}>
        <Frame>
          <Screens />
        </Frame>
      </FrameProvider>
    )}
  </Load>
)

export const App = () => (
  <Provider value={client}>
    <Router base="/app">
      <Framed />
    </Router>
  </Provider>
)
