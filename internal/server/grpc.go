package server

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

// NewGRPC returns a gRPC server with the limits and interceptors that the services of a [Server] stand behind, and no service.
// It is what a call costs that does nothing, the measure for those that do. Zero options are those of [New].
func NewGRPC(opts Options) *grpc.Server {
	s := &Server{opts: opts.orDefaults(), stopping: make(chan struct{})}
	return s.newGRPC()
}

// streamWorkers is how many calls find a goroutine whose stack has grown already. A durable call holds its goroutine until the disk
// has it, and growing a new stack for each was an eighth of the daemon's work.
const streamWorkers = 512

// mostMessage is how many bytes a request may have, streamWindow how many of one stream may lie here unread, and connectionWindow how many
// of one connection may be under way. They are fixed: gRPC otherwise learns them with a ping for nearly every request, which costs two packets and the
// waking of both sides, and lets them grow to 16 MiB, while what kiosks and consoles send are some hundred bytes.
const (
	mostMessage      = 64 << 10
	streamWindow     = mostMessage
	connectionWindow = 1 << 20
)

func (s *Server) newGRPC() *grpc.Server {
	return grpc.NewServer(
		grpc.NumStreamWorkers(streamWorkers),
		grpc.StaticStreamWindowSize(streamWindow), grpc.StaticConnWindowSize(connectionWindow),
		grpc.ChainUnaryInterceptor(s.unary), grpc.ChainStreamInterceptor(s.stream),
		grpc.MaxRecvMsgSize(mostMessage), grpc.MaxHeaderListSize(16<<10), grpc.MaxConcurrentStreams(1024), grpc.ConnectionTimeout(10*time.Second),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
	)
}
