/** Opens the sign-in page, from which the member returns to the present page. */
export const askToSignIn = (): void => {
  const { pathname, search } = location
  location.assign(`/app/sign-in?to=${encodeURIComponent(pathname + search)}`)
}
