"""The part of GitHub's GraphQL schema that the emulator answers."""

from functools import cache

from graphql import DocumentNode, GraphQLError, GraphQLSchema, build_schema, parse, validate

# names, types and arguments are GitHub's; a test compares them with the public schema
SDL = """
scalar DateTime scalar GitObjectID scalar GitTimestamp scalar URI
enum PullRequestState { OPEN CLOSED MERGED }
enum OrderDirection { ASC DESC }
enum IssueOrderField { CREATED_AT UPDATED_AT }
enum SearchType { ISSUE }
enum PatchStatus { ADDED CHANGED COPIED DELETED MODIFIED RENAMED }
input IssueOrder { field: IssueOrderField! direction: OrderDirection! }
interface Node { id: ID! }
interface Actor { login: String! url: URI! }
interface RepositoryOwner { id: ID! login: String! url: URI! }
interface GitObject { id: ID! oid: GitObjectID! }
union SearchResultItem = PullRequest
type User implements Actor & Node & RepositoryOwner { id: ID! login: String! url: URI! }
type Bot implements Actor & Node { id: ID! login: String! url: URI! }
type PageInfo { startCursor: String endCursor: String hasNextPage: Boolean! hasPreviousPage: Boolean! }
type RateLimit { limit: Int! cost: Int! remaining: Int! used: Int! resetAt: DateTime! }
type Label implements Node { id: ID! name: String! }
enum IssueState { CLOSED OPEN }
enum PullRequestReviewState { APPROVED CHANGES_REQUESTED COMMENTED DISMISSED PENDING }
enum CommentAuthorAssociation {
  COLLABORATOR CONTRIBUTOR FIRST_TIMER FIRST_TIME_CONTRIBUTOR MANNEQUIN MEMBER NONE OWNER
}
type Issue implements Node {
  id: ID! number: Int! title: String! url: URI! repository: Repository! state: IssueState! body: String!
  createdAt: DateTime! author: Actor authorAssociation: CommentAuthorAssociation!
}
type IssueComment implements Node {
  id: ID! url: URI! body: String! createdAt: DateTime! author: Actor isMinimized: Boolean!
  authorAssociation: CommentAuthorAssociation!
}
type IssueCommentEdge { cursor: String! node: IssueComment }
type IssueCommentConnection {
  totalCount: Int! pageInfo: PageInfo! nodes: [IssueComment] edges: [IssueCommentEdge]
}
type PullRequestReview implements Node {
  id: ID! url: URI! body: String! createdAt: DateTime! author: Actor isMinimized: Boolean!
  authorAssociation: CommentAuthorAssociation! state: PullRequestReviewState!
}
type PullRequestReviewEdge { cursor: String! node: PullRequestReview }
type PullRequestReviewConnection {
  totalCount: Int! pageInfo: PageInfo! nodes: [PullRequestReview] edges: [PullRequestReviewEdge]
}
type PullRequestReviewComment implements Node {
  id: ID! url: URI! body: String! createdAt: DateTime! author: Actor isMinimized: Boolean!
  authorAssociation: CommentAuthorAssociation!
}
type PullRequestReviewCommentEdge { cursor: String! node: PullRequestReviewComment }
type PullRequestReviewCommentConnection {
  totalCount: Int! pageInfo: PageInfo! nodes: [PullRequestReviewComment] edges: [PullRequestReviewCommentEdge]
}
type PullRequestReviewThread implements Node {
  id: ID! isResolved: Boolean! path: String!
  comments(first: Int, last: Int, after: String, before: String): PullRequestReviewCommentConnection!
}
type PullRequestReviewThreadEdge { cursor: String! node: PullRequestReviewThread }
type PullRequestReviewThreadConnection {
  totalCount: Int! pageInfo: PageInfo! nodes: [PullRequestReviewThread] edges: [PullRequestReviewThreadEdge]
}
type IssueEdge { cursor: String! node: Issue }
type IssueConnection { totalCount: Int! pageInfo: PageInfo! nodes: [Issue] edges: [IssueEdge] }
type Blob implements GitObject & Node {
  id: ID! oid: GitObjectID! byteSize: Int! isBinary: Boolean isTruncated: Boolean! text: String
}
type Tree implements GitObject & Node { id: ID! oid: GitObjectID! }
type TreeEntry { mode: Int! type: String! name: String! path: String object: GitObject }
type LabelEdge { cursor: String! node: Label }
type LabelConnection { totalCount: Int! pageInfo: PageInfo! nodes: [Label] edges: [LabelEdge] }
type PullRequestChangedFile { path: String! additions: Int! deletions: Int! changeType: PatchStatus! }
type PullRequestChangedFileEdge { cursor: String! node: PullRequestChangedFile }
type PullRequestChangedFileConnection {
  totalCount: Int! pageInfo: PageInfo! nodes: [PullRequestChangedFile] edges: [PullRequestChangedFileEdge]
}
type PullRequest implements Node {
  id: ID! number: Int! title: String! body: String! bodyText: String! url: URI! state: PullRequestState!
  merged: Boolean! mergedAt: DateTime createdAt: DateTime! updatedAt: DateTime! closedAt: DateTime
  isDraft: Boolean! author: Actor mergedBy: Actor mergeCommit: Commit potentialMergeCommit: Commit
  baseRefName: String! headRefName: String! baseRefOid: GitObjectID! headRefOid: GitObjectID!
  additions: Int! deletions: Int! changedFiles: Int! repository: Repository!
  labels(first: Int, last: Int, after: String, before: String): LabelConnection
  files(first: Int, last: Int, after: String, before: String): PullRequestChangedFileConnection
  closingIssuesReferences(first: Int, last: Int, after: String, before: String): IssueConnection
  comments(first: Int, last: Int, after: String, before: String): IssueCommentConnection!
  reviews(first: Int, last: Int, after: String, before: String): PullRequestReviewConnection
  reviewThreads(first: Int, last: Int, after: String, before: String): PullRequestReviewThreadConnection!
}
type PullRequestEdge { cursor: String! node: PullRequest }
type PullRequestConnection {
  totalCount: Int! pageInfo: PageInfo! nodes: [PullRequest] edges: [PullRequestEdge]
}
type Commit implements GitObject & Node {
  id: ID! oid: GitObjectID! message: String! messageHeadline: String! committedDate: DateTime!
  file(path: String!): TreeEntry
  parents(first: Int, last: Int, after: String, before: String): CommitConnection!
  associatedPullRequests(first: Int, last: Int, after: String, before: String): PullRequestConnection
  history(
    since: GitTimestamp, until: GitTimestamp, first: Int, last: Int, after: String, before: String
  ): CommitHistoryConnection!
}
type CommitEdge { cursor: String! node: Commit }
type CommitConnection { totalCount: Int! pageInfo: PageInfo! nodes: [Commit] edges: [CommitEdge] }
type CommitHistoryConnection { totalCount: Int! pageInfo: PageInfo! nodes: [Commit] edges: [CommitEdge] }
enum ReleaseOrderField { CREATED_AT NAME }
input ReleaseOrder { field: ReleaseOrderField! direction: OrderDirection! }
type Release implements Node {
  id: ID! tagName: String! name: String createdAt: DateTime! publishedAt: DateTime isDraft: Boolean!
  isPrerelease: Boolean!
}
type ReleaseEdge { cursor: String! node: Release }
type ReleaseConnection { totalCount: Int! pageInfo: PageInfo! nodes: [Release] edges: [ReleaseEdge] }
type Ref implements Node { id: ID! name: String! target: GitObject }
type GitActor { date: GitTimestamp email: String name: String }
type Tag implements GitObject & Node {
  id: ID! oid: GitObjectID! name: String! message: String tagger: GitActor target: GitObject!
}
enum RefOrderField { ALPHABETICAL TAG_COMMIT_DATE }
input RefOrder { field: RefOrderField! direction: OrderDirection! }
type RefEdge { cursor: String! node: Ref }
type RefConnection { totalCount: Int! pageInfo: PageInfo! nodes: [Ref] edges: [RefEdge] }
type Repository implements Node {
  id: ID! name: String! owner: RepositoryOwner! nameWithOwner: String! url: URI! isPrivate: Boolean!
  isArchived: Boolean! defaultBranchRef: Ref
  object(oid: GitObjectID, expression: String): GitObject
  ref(qualifiedName: String!): Ref
  refs(
    refPrefix: String!, orderBy: RefOrder, first: Int, last: Int, after: String, before: String
  ): RefConnection
  pullRequest(number: Int!): PullRequest
  releases(orderBy: ReleaseOrder, first: Int, last: Int, after: String, before: String): ReleaseConnection!
  pullRequests(
    states: [PullRequestState!], orderBy: IssueOrder, baseRefName: String, labels: [String!]
    first: Int, last: Int, after: String, before: String
  ): PullRequestConnection!
}
type SearchResultItemEdge { cursor: String! node: SearchResultItem }
type SearchResultItemConnection {
  issueCount: Int! pageInfo: PageInfo! nodes: [SearchResultItem] edges: [SearchResultItemEdge]
}
type Query {
  repository(owner: String!, name: String!, followRenames: Boolean): Repository
  search(
    query: String!, type: SearchType!, first: Int, last: Int, after: String, before: String
  ): SearchResultItemConnection!
  rateLimit(dryRun: Boolean): RateLimit
  viewer: User!
}
"""


@cache
def schema() -> GraphQLSchema:
    return build_schema(SDL)


@cache
def check_query(query: str) -> tuple[DocumentNode | None, tuple[GraphQLError, ...]]:
    try:
        document = parse(query)
    except GraphQLError as error:
        return None, (error,)
    return document, tuple(validate(schema(), document))
